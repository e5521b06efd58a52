// SPDX-License-Identifier: Apache-2.0
// A rank's knowledge of the liveness of its peers, and how it looks for signs of life.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <chorale/core/clock.hpp>
#include <chorale/transport/liveness/failure_detector.hpp>
#include <chorale/transport/wire/control_channel.hpp>

namespace chorale::transport {

class membership;
class witness_round;

/// The failure detector of a rank with its inputs: the clock, datagrams as signs of life, and the processes
/// of this host. docs/liveness.md says what counts as alive. Used on the rank's own thread.
class liveness {
 public:
  /// Receives each datagram of the channel from now on. Both arguments must outlive it; the channel must not
  /// be read after this object has been destroyed.
  liveness(const membership& group, control_channel& channel, const failure_detector::limits& l);
  liveness(const liveness&) = delete;
  liveness& operator=(const liveness&) = delete;
  ~liveness();

  // Events.
  /// `peer` is alive: for example, its adapter has acknowledged something.
  void hear(int peer) noexcept;
  /// `peer` has been asked something. It answers while it is alive if it has a service thread; otherwise no
  /// answer is expected.
  void expect_answer(int peer);
  /// `peer` has said on its connection that it ends its communicator.
  void leave(int peer) noexcept;
  /// `from` says that `peer`, whose process is gone or which does not answer, has left before, or that `from`
  /// has no farewell of it either.
  void note_reported(int from, int peer, bool has_left) noexcept;
  /// `peer` has said by datagram that it ends its communicator: it no longer reads datagrams, either.
  void take_farewell(int peer) noexcept;

  // What is known.
  /// True if that rank has left or is dead: nothing will arrive from it.
  [[nodiscard]] bool is_gone(int peer) const noexcept { return detector_.is_gone(peer); }
  [[nodiscard]] bool is_dead(int peer) const noexcept { return detector_.is_dead(peer); }
  /// Under the lock of the channel, on any thread.
  [[nodiscard]] bool has_left(int peer) const noexcept { return detector_.has_left(peer); }
  /// Ranks whose processes are gone, without a farewell.
  [[nodiscard]] std::vector<int> dead();
  /// True if broadcasts should include that rank.
  [[nodiscard]] bool listens(int peer) const noexcept {
    return !is_dead(peer) && !closed_[static_cast<std::size_t>(peer)];
  }
  /// True if this rank sends its farewell to that one, even if that one has already sent its own.
  [[nodiscard]] bool is_told(int peer) const noexcept;
  /// True if that rank is gone, or shows no sign of life.
  [[nodiscard]] bool is_lost(int peer) noexcept;
  /// Attended time of this rank, as the failure detector counts it; calling this advances it.
  clock::duration attended_now();
  /// Says in words how long `peer` has been silent, and which other ranks are.
  [[nodiscard]] std::string describe_silence(int peer);
  /// A clause, beginning with "; ", if that rank was asked but no datagram of it has arrived, so that there
  /// may be no network path between its port and this rank's; otherwise empty.
  [[nodiscard]] std::string route_hint(int peer);

  // Processes of this host.
  [[nodiscard]] bool is_stopped(int peer) const;
  void look_at_process(int peer);

  // Waits.
  /// Begins a wait for `peer`, or for any peer if that is negative.
  [[nodiscard]] failure_detector::wait begin(int peer);
  [[nodiscard]] failure_detector::verdict judge(failure_detector::wait& w);
  // The awaited rank may itself wait for another, so other ranks are watched, too.
  /// Checks the processes of `awaited`, of silent ranks and, round-robin, of some others.
  void check_some(int awaited);
  /// Ranks to ask for a sign of life besides `awaited`: those that owe an answer and, if `asks_others`, the
  /// next rank round-robin.
  [[nodiscard]] std::vector<int> whom_to_ask(int awaited, bool asks_others);
  /// Living ranks, `awaited` among them, to ask whether `dead` had left before.
  [[nodiscard]] std::vector<int> witnesses(int dead, int awaited);
  /// A rank that does not answer and may have left without telling this one, `awaited` before others; -1 if
  /// there is none.
  [[nodiscard]] int absent_stranger(int awaited);
  /// The ranks that `peer` has told if it has left.
  [[nodiscard]] std::vector<int> keepers_of(int peer);

 private:
  [[nodiscard]] std::vector<int> silent_suspects();

  const membership* group_;
  control_channel* channel_;
  failure_detector detector_;  ///< used under the lock of the channel
  std::vector<bool> closed_;   ///< ranks that no longer listen
  std::size_t next_neighbour_ = 0;
  std::size_t next_absent_ = 0;
  unsigned next_asked_ = 0;
  std::vector<witness_round> witness_rounds_;  ///< one for each dead rank about which others are asked
};

}  // namespace chorale::transport
