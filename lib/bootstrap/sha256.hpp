// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4) and HMAC (RFC 2104), by which ranks prove that they know the secret of their job.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace chorale::bootstrap {

using digest = std::array<std::byte, 32>;

/// A hash of bytes that are added in parts.
class sha256 {
 public:
  void add(std::span<const std::byte> bytes) noexcept;
  /// The hash of all bytes added; to be called once.
  [[nodiscard]] digest value() noexcept;

 private:
  static constexpr std::size_t block = 64;
  void compress(const std::byte* from) noexcept;

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, block> pending_{};
  std::uint64_t bytes_ = 0;
};

[[nodiscard]] digest hash_of(std::span<const std::byte> bytes) noexcept;
/// The HMAC of the concatenation of `parts`.
[[nodiscard]] digest keyed_hash(std::span<const std::byte> key,
                                std::initializer_list<std::span<const std::byte>> parts) noexcept;
/// Whether they are equal, in a time that does not depend on where they differ. Precondition: equal sizes.
[[nodiscard]] bool is_equal_in_secret(std::span<const std::byte> one,
                                      std::span<const std::byte> other) noexcept;

}  // namespace chorale::bootstrap
