// SPDX-License-Identifier: Apache-2.0
// Which calls the peers of a rank are in, and whether they match its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>
#include <chorale/transport/status/status.hpp>

#include "../status/status_messages.hpp"

namespace chorale::transport {

/// Compares the calls of a rank with those of its peers, according to their answers and farewells. Sans-I/O:
/// its owner passes in messages and times. A verdict is an error, errc::mismatch, that names both calls, or
/// nothing. Not thread-safe.
class peer_calls {
 public:
  using verdict = std::optional<error>;

  /// `mine`: the calls of this rank.
  peer_calls(int rank, const status_page& mine) noexcept : rank_(rank), mine_(&mine) {}

  // Input.
  void take(int from, const status_answer& theirs) { answers_.insert_or_assign(from, theirs); }
  void take(int from, const farewell& told);

  // For a rank that waits for `peer` in call `now`:
  /// Judges the latest answer of `peer`, once.
  [[nodiscard]] verdict judge_newest(int peer, call_id now, clock::time_point time);
  /// Judges the farewell of `peer`; nothing if there is none.
  [[nodiscard]] verdict judge_farewell(int peer, call_id now, clock::time_point time);
  [[nodiscard]] verdict judge(int peer, const status_answer& theirs, call_id now, clock::time_point time);

  // For a message of `peer` from call `seen` (its lower 32 bits) that does not seem to belong to call `now`:
  /// Number of the call that does not match: that of a left-over message, or this call, if it belongs to a
  /// later one.
  [[nodiscard]] static std::uint64_t mismatched_call(call_id now, std::uint32_t seen) noexcept;
  /// True if `peer` has said what its call of that number is, or has left.
  [[nodiscard]] bool has_answered(int peer, std::uint64_t number);
  /// Returns nothing if that call is the same on both ranks: then the message was incomplete and should be
  /// read again.
  [[nodiscard]] verdict compare(int peer, call_id now, std::uint32_t seen);

  /// How the calls of this rank and of `peer`, which has left, differ; nothing if they match, or if it has
  /// not left.
  [[nodiscard]] std::optional<std::string> difference(int peer) const;

 private:
  /// A message of call `call` (its lower 32 bits) that was seen in call `now`.
  struct stray_message {
    int peer = -1;
    std::uint32_t call = 0;
    std::uint64_t now = 0;
    bool operator==(const stray_message&) const = default;
  };
  /// A peer that has already completed call `now`, in which this rank waits for it: since when, and in how
  /// many answers.
  struct overdue_peer {
    int peer = -1;
    std::uint64_t now = 0;
    unsigned answers = 0;
    clock::time_point since{};
  };

  [[nodiscard]] verdict compare(int peer, call_id now, std::uint32_t seen, const call* theirs);
  /// The farewell of `peer`; null if it has not left.
  [[nodiscard]] const farewell* farewell_of(int peer) const noexcept {
    const auto told = farewells_.find(peer);
    return told == farewells_.end() ? nullptr : told->second;
  }

  int rank_;
  const status_page* mine_;
  std::unordered_map<int, status_answer> answers_;  ///< the latest of each
  std::unordered_map<int, const farewell*> farewells_;
  std::vector<std::unique_ptr<const farewell>> told_;  ///< those that they point to; equal ones are kept once
  stray_message stray_;
  overdue_peer overdue_;
};

}  // namespace chorale::transport
