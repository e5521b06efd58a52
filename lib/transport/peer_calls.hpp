// Which calls the peers of a rank are in, and whether they are the same as its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>
#include <chorale/transport/status.hpp>

#include "status_messages.hpp"

namespace chorale::transport {

/// Compares the calls of a rank with what its peers have answered about theirs, or have said of them when
/// they left. It has no device, clock or socket: its owner hands it what has come, and the time. A verdict is
/// an error, errc::mismatch, that names both calls, or nothing. Not thread-safe.
class peer_calls {
 public:
  using verdict = std::optional<error>;

  /// `mine`: the calls of this rank, of so many.
  peer_calls(int rank, int ranks, const status_page& mine);

  // What has come.
  void take(int from, const status_answer& theirs) { answers_[static_cast<std::size_t>(from)] = theirs; }
  void take(int from, const farewell& told) { farewells_.insert_or_assign(from, told); }

  // This rank waits for `peer` in call `now`.
  /// Judges the newest answer of `peer`, once.
  [[nodiscard]] verdict judge_newest(int peer, call_id now, clock::time_point time);
  /// Judges what `peer` has said when it left; nothing if it has not.
  [[nodiscard]] verdict judge_farewell(int peer, call_id now, clock::time_point time);
  [[nodiscard]] verdict judge(int peer, const status_answer& theirs, call_id now, clock::time_point time);

  // A message of `peer` is here, of call `seen` as far as 32 bits tell, which does not seem to belong to call
  // `now`.
  /// Number of the call that is in doubt: that of a message which was left over, or of this call, which a
  /// message of a later one leaves without.
  [[nodiscard]] static std::uint64_t in_doubt(call_id now, std::uint32_t seen) noexcept;
  /// True if `peer` has told what its call of that number is, or has left.
  [[nodiscard]] bool has_told(int peer, std::uint64_t number);
  /// Nothing if that call is the same on both ranks: then what was seen is not all there yet, and is to be
  /// looked at again.
  [[nodiscard]] verdict compare(int peer, call_id now, std::uint32_t seen);

  /// How the calls of this rank and those of `peer`, which has left, do not match; nothing if they match, or
  /// if it has not left.
  [[nodiscard]] std::optional<std::string> difference(int peer) const;

 private:
  /// A message of call `call`, as far as 32 bits tell, that was seen in call `now`.
  struct stray_message {
    int peer = -1;
    std::uint32_t call = 0;
    std::uint64_t now = 0;
    bool operator==(const stray_message&) const = default;
  };
  /// A peer that has gone on from call `now`, in which this rank waits for it: since when, and how often it
  /// has said so.
  struct overdue_peer {
    int peer = -1;
    std::uint64_t now = 0;
    unsigned answers = 0;
    clock::time_point since{};
  };

  [[nodiscard]] verdict compare(int peer, call_id now, std::uint32_t seen, const call* theirs);

  int rank_;
  const status_page* mine_;
  std::vector<std::optional<status_answer>> answers_;  ///< the newest of each
  std::map<int, farewell> farewells_;
  stray_message stray_;
  overdue_peer overdue_;
};

}  // namespace chorale::transport
