// SPDX-License-Identifier: Apache-2.0
// Parsing of cards and refusals: malformed bytes do no harm.
#include "rank_card.hpp"

#include <cstring>
#include <string_view>

#include <chorale/core/system_services.hpp>

#include "../../core/printable.hpp"

namespace chorale::transport {
namespace {

/// No card begins like this.
constexpr std::string_view refusal_mark = "chorale refusal ";
constexpr std::size_t most_text = 4096;
constexpr std::size_t address_bytes = sizeof(verbs::endpoint_address);

std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

group_numbers group_numbers::drawn() {
  const std::uint64_t qkeys = unguessable_word();
  const std::uint64_t names = unguessable_word();
  return {.secret = unguessable_word(),
          .multicast_secret = unguessable_word(),
          .qkey = static_cast<std::uint32_t>(qkeys),
          .multicast_qkey = static_cast<std::uint32_t>(qkeys >> 32),
          .multicast_address = static_cast<std::uint32_t>(names),
          .name = static_cast<std::uint32_t>(names >> 32)};
}

void group_numbers::add(const group_numbers& of_rank) noexcept {
  secret += of_rank.secret;
  multicast_secret += of_rank.multicast_secret;
  // If the top bit is set, an adapter sends the queue pair's key instead of the request's.
  constexpr std::uint32_t key_bits = 0x7fffffff;
  qkey = (qkey + of_rank.qkey) & key_bits;
  multicast_qkey = (multicast_qkey + of_rank.multicast_qkey) & key_bits;
  multicast_address += of_rank.multicast_address;
  name += of_rank.name;
}

verbs::endpoint_address received_card::address(std::size_t port) const noexcept {
  if (port == 0) return card.address;
  verbs::endpoint_address read{};
  std::memcpy(static_cast<void*>(&read), more_addresses.data() + (port - 1) * address_bytes, address_bytes);
  return read;
}

std::vector<std::byte> write_card(rank_card card, const cpu_mask& cores,
                                  std::span<const verbs::endpoint_address> more, const near_card* near) {
  std::size_t first = 0;
  std::size_t end = cores.words.size();
  while (first < end && cores.words[first] == 0) ++first;
  while (end > first && cores.words[end - 1] == 0) --end;
  card.ports = static_cast<std::uint16_t>(1 + more.size());
  card.first_word = static_cast<std::uint16_t>(first);
  card.words = static_cast<std::uint8_t>(end - first);
  card.has_near = near != nullptr ? 1 : 0;
  const std::size_t of_near = near != nullptr ? sizeof *near : 0;
  std::vector<std::byte> bytes(sizeof card + card.words * sizeof(std::uint64_t) +
                               more.size() * address_bytes + of_near);
  std::byte* place = bytes.data();
  const auto append = [&place](const void* from, std::size_t count) {
    if (count != 0) std::memcpy(place, from, count);
    place += count;
  };
  append(&card, sizeof card);
  append(cores.words.data() + first, card.words * sizeof(std::uint64_t));
  append(more.data(), more.size() * address_bytes);
  append(near, of_near);
  return bytes;
}

std::optional<received_card> read_card(std::span<const std::byte> bytes) noexcept {
  received_card read{};
  if (bytes.size() < sizeof read.card) return std::nullopt;
  std::memcpy(static_cast<void*>(&read.card), bytes.data(), sizeof read.card);
  const auto rest = bytes.subspan(sizeof read.card);
  const std::size_t first = read.card.first_word;
  const std::size_t mask = read.card.words * sizeof(std::uint64_t);
  const std::size_t more = (read.card.ports - std::size_t{1}) * address_bytes;
  if (read.card.version != rank_card::binary_interface || read.card.ports == 0 ||
      first + read.card.words > read.cores.words.size() || read.card.has_near > 1 ||
      rest.size() != mask + more + read.card.has_near * sizeof(near_card))
    return std::nullopt;
  if (mask != 0) std::memcpy(read.cores.words.data() + first, rest.data(), mask);
  read.more_addresses = rest.subspan(mask, more);
  if (read.card.has_near != 0)
    std::memcpy(static_cast<void*>(&read.near), rest.data() + mask + more, sizeof read.near);
  return read;
}

std::uint32_t version_of_card(std::span<const std::byte> bytes) noexcept {
  std::uint32_t version = 0;
  if (bytes.size() >= sizeof version) std::memcpy(&version, bytes.data(), sizeof version);
  return version;
}

std::vector<std::byte> refusal_card(const error& why) {
  const std::string text = std::string{refusal_mark} + std::string{why.what()}.substr(0, most_text);
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}

std::span<const std::byte> refusal_without_words() noexcept {
  return std::as_bytes(std::span{refusal_mark});
}

bool is_refusal(std::span<const std::byte> bytes) noexcept {
  return text_of(bytes).starts_with(refusal_mark);
}

std::optional<std::string> read_refusal(std::span<const std::byte> bytes) {
  if (!is_refusal(bytes)) return std::nullopt;
  return printable(text_of(bytes).substr(refusal_mark.size()), most_text);
}

}  // namespace chorale::transport
