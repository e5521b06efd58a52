// SPDX-License-Identifier: Apache-2.0
#include "sha256.hpp"

#include <algorithm>
#include <bit>

namespace chorale::bootstrap {
namespace {

constexpr std::array<std::uint32_t, 64> sha256_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian_word(const std::byte* at) noexcept {
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word = word << 8 | std::to_integer<std::uint32_t>(at[i]);
  return word;
}

}  // namespace

void sha256::compress(const std::byte* from) noexcept {
  std::array<std::uint32_t, 64> w;
  for (std::size_t i = 0; i < 16; ++i) w[i] = big_endian_word(from + 4 * i);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t before = w[i - 15];
    const std::uint32_t last = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(before, 7) ^ std::rotr(before, 18) ^ before >> 3) + w[i - 7] +
           (std::rotr(last, 17) ^ std::rotr(last, 19) ^ last >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                ((e & f) ^ (~e & g)) + sha256_constants[i] + w[i];
    const std::uint32_t second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const std::array<std::uint32_t, 8> more{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state_[i] += more[i];
}

void sha256::add(std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const std::size_t held = bytes_ % block;
    if (held == 0 && bytes.size() >= block) {
      compress(bytes.data());
      bytes_ += block;
      bytes = bytes.subspan(block);
      continue;
    }
    const std::size_t more = std::min(block - held, bytes.size());
    std::copy_n(bytes.begin(), more, pending_.begin() + static_cast<std::ptrdiff_t>(held));
    bytes_ += more;
    bytes = bytes.subspan(more);
    if (bytes_ % block == 0) compress(pending_.data());
  }
}

digest sha256::value() noexcept {
  const std::uint64_t bits = bytes_ * 8;
  const std::byte one{0x80};
  add({&one, 1});
  const std::byte zero{0};
  while (bytes_ % block != block - 8) add({&zero, 1});
  std::array<std::byte, 8> length;
  for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<std::byte>(bits >> (56 - 8 * i));
  add(length);
  digest all;
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<std::byte>(state_[i / 4] >> (24 - 8 * (i % 4)));
  return all;
}

digest hash_of(std::span<const std::byte> bytes) noexcept {
  sha256 hash;
  hash.add(bytes);
  return hash.value();
}

digest keyed_hash(std::span<const std::byte> key,
                  std::initializer_list<std::span<const std::byte>> parts) noexcept {
  std::array<std::byte, 64> padded{};
  if (key.size() > padded.size()) {
    const digest shorter = hash_of(key);
    std::ranges::copy(shorter, padded.begin());
  } else {
    std::ranges::copy(key, padded.begin());
  }
  std::array<std::byte, 64> inner = padded;
  std::array<std::byte, 64> outer = padded;
  for (std::byte& b : inner) b ^= std::byte{0x36};
  for (std::byte& b : outer) b ^= std::byte{0x5c};
  sha256 within;
  within.add(inner);
  for (const auto part : parts) within.add(part);
  const digest message = within.value();
  sha256 whole;
  whole.add(outer);
  whole.add(message);
  return whole.value();
}

bool is_equal_in_secret(std::span<const std::byte> one, std::span<const std::byte> other) noexcept {
  std::byte differences{0};
  for (std::size_t i = 0; i < one.size(); ++i) differences |= one[i] ^ other[i];
  return differences == std::byte{0};
}

}  // namespace chorale::bootstrap
