// SPDX-License-Identifier: Apache-2.0
// Which ranks are alive, and how long a wait may continue, judged only from events and times.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include <chorale/core/attention.hpp>
#include <chorale/core/clock.hpp>

namespace chorale::transport {

/// Knows for each peer whether it is heard, silent, gone or dead, and judges waits. Sans-I/O: it has no
/// device, clock or socket; its owner reports events and times. Not thread-safe.
///
/// Time is *attended* time: a gap between two polls counts as at most `longest_gap`. Time in which the rank
/// was stopped, had no core or was computing therefore counts neither as silence of its peers nor towards its
/// deadlines. A waiting rank polls about every millisecond.
class failure_detector {
 public:
  using duration = clock::duration;
  using time_point = clock::time_point;

  /// Longer than any pause of a waiting rank, shorter than a machine's stalls of seconds.
  static constexpr std::chrono::milliseconds longest_gap{500};
  /// Minimum of unanswered questions before a peer counts as silent: some may have been lost.
  static constexpr unsigned fewest_questions = 8;
  /// The news that a peer left or died may overtake what it sent before.
  static constexpr std::chrono::milliseconds last_messages{100};
  /// The death of a peer ends a wait for another peer only after this time, since a farewell of the dead peer
  /// may be in flight; and not before all living ranks have said that they have no such farewell either, or
  /// `limits::silence` has passed.
  static constexpr std::chrono::milliseconds farewell{500};
  /// A process that was seen running counts as running for this time: longer than the interval of checks.
  static constexpr std::chrono::milliseconds seen_recently = 2 * longest_gap;

  struct limits {
    duration silence{};   ///< time without a sign of life after which a peer counts as lost
    duration stall{};     ///< duration of a wait after which it is reported
    duration deadline{};  ///< duration of a wait after which it fails; zero: none
    /// Whether a peer that leaves tells this rank even if neither has ever sent the other anything.
    bool strangers_say_farewell = true;
  };
  /// `peers`: their number; they are identified by 0 to peers - 1.
  failure_detector(int peers, const limits& l);

  // Events.
  /// The owner attends at time `now`: advances attended time.
  void advance_to(time_point now) noexcept;
  /// A sign of life of `peer` arrived: a datagram, or an acknowledgement by its adapter.
  void hear(int peer) noexcept;
  /// `peer` was sent a question, which it answers as long as it is alive.
  void ask(int peer);
  /// `peer` has ended its communicator. This is known at once, but counts as having happened at the next
  /// `advance_to`, since this rank may not have run for a while before it learns of it.
  void leave(int peer) noexcept;
  /// The process of `peer` was seen running: it may be silent because it has left, or has no core for its
  /// service thread, but it is not dead.
  void see_running(int peer) { states_[peer].seen = attended_; }
  /// `peer` is dead: its process is gone.
  void die(int peer);
  /// No living rank has a farewell of `peer`, which is dead.
  void deny_farewell(int peer) { states_[peer].is_denied = true; }

  // What is known.
  [[nodiscard]] duration attended() const noexcept { return attended_; }
  [[nodiscard]] bool has_left(int peer) const noexcept { return left_[static_cast<std::size_t>(peer)]; }
  [[nodiscard]] bool is_dead(int peer) const noexcept {
    const peer_state* p = find(peer);
    return p != nullptr && p->died;
  }
  /// True if it has left or is dead: nothing will come from it.
  [[nodiscard]] bool is_gone(int peer) const noexcept { return has_left(peer) || is_dead(peer); }
  /// True if it was asked often enough, for long enough, without a sign of life since.
  [[nodiscard]] bool is_silent(int peer) const noexcept;
  /// Attended time since the first question after its last sign of life; zero if no question is open.
  [[nodiscard]] duration silence_of(int peer) const noexcept;
  /// True if any sign of life of it has ever arrived.
  [[nodiscard]] bool was_heard(int peer) const noexcept { return heard_[static_cast<std::size_t>(peer)]; }
  /// True if it has left several questions unanswered, and may have left without telling this rank.
  [[nodiscard]] bool may_have_left(int peer) const noexcept;
  /// Peers that have not answered an earlier question: ask them again.
  [[nodiscard]] const std::vector<int>& suspects() const noexcept { return suspects_; }

  /// Peers that are dead: others may know that they have left before.
  [[nodiscard]] const std::vector<int>& dead() const noexcept { return dead_; }

  enum class outcome {
    keep_waiting,
    dead,      ///< the verdict's peer is dead
    left,      ///< the awaited peer has left; if any rank is awaited, all have
    silent,    ///< the awaited peer shows no sign of life; if any rank is awaited, the verdict's peer
    deadline,  ///< a blocking wait took too long
    /// The wait continues, but report it: once at `stall`, then at doubling intervals. A call that is only
    /// advanced (`attention::passes`) is not reported until it is waited for again.
    stalled,
  };
  struct verdict {
    outcome what = outcome::keep_waiting;
    int peer = -1;
    bool operator==(const verdict&) const = default;
  };

  /// A wait for `peer`, or for any peer if that is negative.
  struct wait {
    int peer = -1;
    duration since{};
    duration next_report{};
    duration report_interval{};
    verdict suspicion{};               ///< the outcome of the previous judgement
    attention how = attention::waits;  ///< attention of the wait that is judged
  };
  [[nodiscard]] wait begin(int peer) const noexcept;
  /// Judges a wait at the time of the last `advance_to`. Between two judgements the owner checks for the
  /// awaited data; a wait ends only if two successive judgements agree. Otherwise this rank could miss data
  /// that arrived with the farewell that ends the wait, or while this rank did not run. The silence of a peer
  /// ends only waits that may be for that peer: it may have left, and this rank may have missed the farewell.
  /// A rank that waits for the silent peer finds out and tells the others. Where strangers leave without a
  /// farewell, the silence of one does not end a wait for any peer, either. The death of a peer is certain,
  /// and ends every wait.
  verdict judge(wait& w) const noexcept;
  [[nodiscard]] duration waited(const wait& w) const noexcept { return attended_ - w.since; }

 private:
  /// The state of a peer that was asked something, or whose process was checked.
  struct peer_state {
    duration asked{};  ///< time of the first question since it was last heard
    unsigned questions = 0;
    std::optional<duration> died;
    std::optional<duration> seen;  ///< when its process was last seen running
    bool is_denied = false;        ///< all living ranks have said that they have no farewell of this peer
  };
  /// Null for a peer that was neither asked nor checked.
  [[nodiscard]] const peer_state* find(int peer) const noexcept {
    const auto found = states_.find(peer);
    return found == states_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool left_long_ago(int peer, const wait& w) const noexcept;
  [[nodiscard]] bool is_seen_running(int peer) const noexcept;
  [[nodiscard]] bool is_stranger(int peer) const noexcept {
    return !limits_.strangers_say_farewell && !was_heard(peer);
  }
  /// True if every other peer has left or is a silent stranger, which may have left.
  [[nodiscard]] bool are_all_gone_or_silent() const noexcept;
  [[nodiscard]] bool all_left(const wait& w) const noexcept;
  [[nodiscard]] verdict end_of(const wait& w) const noexcept;

  limits limits_;
  std::unordered_map<int, peer_state> states_;
  std::vector<bool> heard_;
  std::vector<bool> left_;
  std::unordered_map<int, duration> left_at_;
  std::vector<int> suspects_;
  std::vector<int> dead_;
  std::vector<int> leaving_;  ///< peers that have left since the last `advance_to`
  int left_count_ = 0;
  duration attended_{};
  std::optional<time_point> last_look_;
};

}  // namespace chorale::transport
