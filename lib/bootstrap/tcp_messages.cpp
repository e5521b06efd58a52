// SPDX-License-Identifier: Apache-2.0
#include "tcp_messages.hpp"

#include <algorithm>
#include <iterator>
#include <unistd.h>

#include <fmt/format.h>

#include <chorale/core/fnv.hpp>
#include <chorale/core/version.hpp>

#include "../core/printable.hpp"
#include "../core/system_files.hpp"

namespace chorale::bootstrap {
namespace {

constexpr std::size_t longest_failure = 4096;
constexpr std::size_t most_ranks_named = 8;

template <detail::sendable Message>
void append_object(tcp_bytes& to, const Message& message) {
  const auto bytes = detail::bytes_of(message);
  // g++ 12 wrongly finds at -O3 that an insert() of a fixed number of bytes overflows.
  std::copy(bytes.begin(), bytes.end(), std::back_inserter(to));
}

/// The text in a field that another process has written.
template <std::size_t Bytes>
std::string text_of_field(const char (&field)[Bytes]) {
  return printable({field, static_cast<std::size_t>(std::find(field, field + Bytes, '\0') - field)});
}

}  // namespace

tcp_claim tcp_claim::of_this_process(int rank, int size) {
  tcp_claim mine;
  mine.rank = rank;
  mine.size = size;
  mine.process = ::getpid();
  fmt::format_to_n(mine.version, sizeof mine.version - 1, "{}.{}.{}", CHORALE_VERSION_MAJOR,
                   CHORALE_VERSION_MINOR, CHORALE_VERSION_PATCH);
  if (::gethostname(mine.host_name, sizeof mine.host_name - 1) != 0)
    std::string_view{"an unknown host"}.copy(mine.host_name, sizeof mine.host_name - 1);
  // The name alone is not enough: containers and clones share names.
  mine.host = detail::fnv1a(detail::word_of_system("/proc/sys/kernel/random/boot_id"),
                            detail::fnv1a(std::string_view{mine.host_name}));
  return mine;
}

std::string tcp_claim::where() const {
  return fmt::format("process {} on {}", process, text_of_field(host_name));
}

tcp_bytes tcp_failure::bytes() const {
  const auto count = static_cast<std::uint32_t>(std::min(ranks.size(), longest_failure / 8));
  tcp_bytes all;
  append_object(all, count);
  for (std::size_t i = 0; i < count; ++i) append_object(all, static_cast<std::int32_t>(ranks[i]));
  const auto words = std::as_bytes(std::span{text}).first(std::min(text.size(), longest_failure));
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

std::optional<tcp_failure> tcp_failure::read(std::span<const std::byte> bytes) {
  const auto count = read_first<std::uint32_t>(bytes);
  if (!count || (bytes.size() - sizeof *count) / sizeof(std::int32_t) < *count) return std::nullopt;
  tcp_failure failure;
  bytes = bytes.subspan(sizeof *count);
  for (std::uint32_t i = 0; i < *count; ++i) {
    failure.ranks.push_back(*read_first<std::int32_t>(bytes));
    bytes = bytes.subspan(sizeof(std::int32_t));
  }
  failure.text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return failure;
}

tcp_bytes write_card_of_round(std::uint64_t round, std::span<const std::byte> card) {
  tcp_bytes all;
  all.reserve(sizeof round + card.size());
  append_object(all, round);
  all.insert(all.end(), card.begin(), card.end());
  return all;
}

tcp_bytes write_cards_of_round(std::uint64_t round, const cards& all) {
  tcp_bytes bytes;
  append_object(bytes, round);
  for (const auto& card : all) {
    append_object(bytes, static_cast<std::uint32_t>(card.size()));
    bytes.insert(bytes.end(), card.begin(), card.end());
  }
  return bytes;
}

std::optional<cards> read_cards_of_round(std::uint64_t round, std::size_t size,
                                         std::span<const std::byte> bytes) {
  if (read_first<std::uint64_t>(bytes) != round) return std::nullopt;
  bytes = bytes.subspan(sizeof round);
  cards all;
  while (!bytes.empty()) {
    const auto length = read_first<std::uint32_t>(bytes);
    if (!length || bytes.size() - sizeof *length < *length || all.size() == size) return std::nullopt;
    const auto card = bytes.subspan(sizeof *length, *length);
    all.emplace_back(card.begin(), card.end());
    bytes = bytes.subspan(sizeof *length + *length);
  }
  if (all.size() != size) return std::nullopt;
  return all;
}

std::string ranks_in_words(const std::vector<int>& ranks) {
  if (ranks.size() == 1) return fmt::format("rank {}", ranks.front());
  const std::size_t named = ranks.size() > most_ranks_named ? most_ranks_named : ranks.size() - 1;
  const std::string first =
      fmt::format("{}", fmt::join(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(named), ", "));
  if (named == most_ranks_named) return fmt::format("ranks {} and {} more", first, ranks.size() - named);
  return fmt::format("ranks {} and {}", first, ranks.back());
}

std::string_view words_of(tcp_fault fault) noexcept {
  switch (fault) {
    case tcp_fault::stranger:
      return "it does not speak Chorale's protocol";
    case tcp_fault::other_version:
      return "it runs a version of Chorale with another protocol";
    case tcp_fault::wrong_secret:
      return "its secret is another one (CHORALE_TCP_SECRET)";
    case tcp_fault::too_long:
      return "it sent a message that is too long";
    case tcp_fault::none:
      break;
  }
  return "it is believed";
}

}  // namespace chorale::bootstrap
