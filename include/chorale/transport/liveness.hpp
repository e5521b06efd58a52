// What a rank knows of the lives of its peers, and how it looks for signs of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <chorale/core/clock.hpp>
#include <chorale/transport/control_channel.hpp>
#include <chorale/transport/failure_detector.hpp>

namespace chorale::transport {

class membership;

/// The failure detector of a rank with what it needs: the clock, datagrams as signs of life, and the
/// processes of this host. docs/liveness.md says what counts as alive. On the rank's own thread.
class liveness {
 public:
  /// Hears of each datagram of the channel from now on. Both outlive it, and the channel is read no more when
  /// it has ended.
  liveness(const membership& group, control_channel& channel, const failure_detector::limits& l);
  liveness(const liveness&) = delete;
  liveness& operator=(const liveness&) = delete;
  ~liveness();

  // Events.
  /// An adapter has acknowledged something, or the like: that rank is alive.
  void hear(int peer) noexcept;
  /// `peer` has been asked something. It answers while it is alive, if it has a service thread; one without
  /// is not expected to.
  void expect_answer(int peer);
  /// `peer` has said by its connection that it ends its communicator.
  void leave(int peer) noexcept;
  /// ... or by datagram: then it listens no more, either.
  void take_farewell(int peer) noexcept;

  // What is known.
  /// True if that rank has left or is dead: nothing will come from it.
  [[nodiscard]] bool is_gone(int peer) const noexcept { return detector_.is_gone(peer); }
  [[nodiscard]] bool is_dead(int peer) const noexcept { return detector_.is_dead(peer); }
  /// True if what is told to all is to be told to that rank, too.
  [[nodiscard]] bool listens(int peer) const noexcept {
    return !is_dead(peer) && !closed_[static_cast<std::size_t>(peer)];
  }
  /// True if that rank is gone, or gives no sign of life.
  [[nodiscard]] bool is_lost(int peer) noexcept;
  /// Time in which this rank has looked around, as the failure detector counts it; goes on by looking.
  clock::duration attend();
  /// How long `peer` has been silent, and who else is, in words.
  [[nodiscard]] std::string describe_silence(int peer);

  // Processes of this host.
  [[nodiscard]] bool is_stopped(int peer) const;
  void look_at_process(int peer);
  void look_at_processes();

  // Waits.
  /// A wait for `peer`, or for any if that is negative, begins now.
  [[nodiscard]] failure_detector::wait begin(int peer);
  [[nodiscard]] failure_detector::verdict judge(failure_detector::wait& w);
  // The rank that is awaited may itself wait for another, so that others are watched beside it.
  /// Looks at the processes of `awaited` and of some others, in turn.
  void look_at_some(int awaited);
  /// Who is to be asked for a sign of life beside `awaited`: those who owe an answer, and the next rank in
  /// turn if `asks_others`.
  [[nodiscard]] std::vector<int> whom_to_ask(int awaited, bool asks_others);

 private:
  const membership* group_;
  control_channel* channel_;
  failure_detector detector_;  ///< used under the lock of the channel
  std::vector<bool> closed_;   ///< ranks that listen no more
  std::size_t next_neighbour_ = 0;
  unsigned next_asked_ = 0;
};

}  // namespace chorale::transport
