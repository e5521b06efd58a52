// Whose turn it is on a core that several threads share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <chorale/simulation/time.hpp>

namespace chorale::simulation {

/// What sharing a core costs.
struct core_costs {
  duration look{};            ///< of a thread that polls, until it gives way again
  duration context_switch{};  ///< from a thread to another
};

/// A core and the threads that want it, which have it in turns, round robin: nobody is preempted, and who
/// gives way is the last to have it again. A thread that polls in vain has its turns like all others: a
/// switch, a look, and the next has the core. Those turns are not carried out one by one: as long as nobody
/// sees anything they follow from the time alone, so that a core of pollers costs no events, and yet each
/// sees what has changed in the turn in which it would have.
///
/// A state machine without a clock: calls say when they are made, at times that do not decrease but for one
/// thing: a thread may leave the core at a time that others have not come to. It begins later turns.
class shared_core {
 public:
  using thread = std::uint32_t;

  /// A thread that has something to do, and when it has the core for it.
  struct turn {
    instant when;
    thread who;
  };

  explicit shared_core(const core_costs& costs) noexcept : costs_(costs) {}

  /// A thread in line, which wants the core for more than a look in vain from `due` on.
  struct waiting {
    thread who;
    instant due;
  };

  /// The thread can run from `now` on. It is last in line.
  void add(const waiting& who, instant now);
  /// Who has the core lets the others have it. It wants it for more than a look in vain from `due` on.
  void give_way(instant now, instant due);
  /// A thread in line has something to see, or to do, from `due` on; nothing if that was so before.
  void hurry(thread who, instant due) noexcept;
  /// The thread cannot run any more, whether it has the core or is in line.
  void remove(thread who, instant now);
  /// Who would have the core last goes elsewhere.
  [[nodiscard]] waiting take_last(instant now);

  /// The next turn of somebody who has something to do; none if somebody has the core, or nobody wants it.
  [[nodiscard]] std::optional<turn> next() const noexcept;
  /// That turn begins: the thread has the core until it gives way or is removed.
  void begin(const turn& next);

  [[nodiscard]] std::optional<thread> holder() const noexcept { return holder_; }
  /// How many can run, the holder included.
  [[nodiscard]] std::size_t runnable() const noexcept { return line_.size() + (holder_ ? 1 : 0); }

 private:
  [[nodiscard]] duration to_first_look() const noexcept;
  [[nodiscard]] duration between_looks() const noexcept;
  void catch_up(instant now);
  void pass(std::int64_t turns);

  core_costs costs_;
  std::vector<waiting> line_;     ///< the one whose turn begins at free_ is the first
  instant free_{};                ///< when the last turn ended that is over
  std::optional<thread> before_;  ///< who had that turn
  std::optional<thread> holder_;
};

}  // namespace chorale::simulation
