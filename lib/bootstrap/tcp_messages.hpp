// SPDX-License-Identifier: Apache-2.0
// What the messages of bootstrap::tcp contain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/bootstrap/concept.hpp>
#include <chorale/core/sendable.hpp>

#include "tcp_channel.hpp"

namespace chorale::bootstrap {

/// Maximum size of a card in bytes, as with PMIx.
inline constexpr std::size_t longest_tcp_card = 65536;
/// Maximum size in bytes of any other message of a member.
inline constexpr std::size_t longest_tcp_word = 8192;

/// `tcp_kind::join`: which rank this is.
struct tcp_claim {
  std::int32_t rank = 0;
  std::int32_t size = 1;
  std::uint64_t host = 0;  ///< equal for processes that share a kernel
  std::int64_t process = 0;
  char version[32] = {};  ///< of the library
  char host_name[72] = {};

  /// Rank `rank` of `size`, this process.
  [[nodiscard]] static tcp_claim of_this_process(int rank, int size);
  /// In a sentence, such as "process 12 on node1".
  [[nodiscard]] std::string where() const;
};
static_assert(detail::sendable<tcp_claim>);

/// `tcp_kind::welcome`: what a rank learns once all ranks have joined.
struct tcp_welcome {
  std::uint64_t job = 0;
  std::int32_t local_rank = 0;
  std::int32_t root = 0;  ///< the rank to which the others connect
};
static_assert(detail::sendable<tcp_welcome>);

/// `tcp_kind::failure`: why the group has failed, and the ranks that caused it.
struct tcp_failure {
  std::string text;
  std::vector<int> ranks;

  [[nodiscard]] tcp_bytes bytes() const;
  [[nodiscard]] static std::optional<tcp_failure> read(std::span<const std::byte> bytes);
};

/// `tcp_kind::card` and `tcp_kind::all_cards` begin with the number of the exchange.
[[nodiscard]] tcp_bytes write_card_of_round(std::uint64_t round, std::span<const std::byte> card);
[[nodiscard]] tcp_bytes write_cards_of_round(std::uint64_t round, const cards& all);
/// Nothing if the bytes are not the cards of that exchange by `size` ranks.
[[nodiscard]] std::optional<cards> read_cards_of_round(std::uint64_t round, std::size_t size,
                                                       std::span<const std::byte> bytes);

/// An object at the beginning of `bytes`; nothing if there are too few.
template <detail::sendable Message>
[[nodiscard]] std::optional<Message> read_first(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < sizeof(Message)) return std::nullopt;
  Message message;
  std::memcpy(static_cast<void*>(&message), bytes.data(), sizeof message);
  return message;
}

/// "rank 3", "ranks 3 and 5", "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 25 more".
[[nodiscard]] std::string ranks_in_words(const std::vector<int>& ranks);
/// The remedy if those that a process waits for in vain have joined long ago: without this process, which has
/// only inherited the variables of a rank.
inline constexpr std::string_view words_for_further_programs =
    "a program that a rank has started inherits its variables, but is no rank: start it without them "
    "(env -u RANK -u CHORALE_BOOTSTRAP)";
/// What a `tcp_fault` says about the other side: a clause whose subject is that side.
[[nodiscard]] std::string_view words_of(tcp_fault fault) noexcept;

}  // namespace chorale::bootstrap
