// SPDX-License-Identifier: Apache-2.0
// All effects that a few threads can have on shared memory, on processors that reorder: for protocols that
// rely on more than a release and an acquire.
//
// A body is run once for each combination of values that its loads could return, which gives lists of events.
// For each combination of such lists, all assignments of stores to loads and all orders of the stores of one
// place are tried, and the outcomes that the processor's model allows (`order_models.cpp`) are judged.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "order_relation.hpp"

namespace protocols {

enum class processor { x86, arm, power };
inline constexpr processor all_processors[] = {processor::x86, processor::arm, processor::power};

/// A load, a store or a barrier, at the level of the processor's instructions.
struct order_event {
  enum class kind { load, store, light_barrier, load_barrier, full_barrier };
  kind what = kind::load;
  int thread = -1;         ///< -1: the memory's initial value
  int place = -1;          ///< place of a load or a store
  int value = 0;           ///< read or written
  bool acquires = false;   ///< ARM: LDAPR or LDAR; POWER: followed by a branch and isync
  bool releases = false;   ///< ARM: STLR
  bool is_strong = false;  ///< ARM: LDAR, not LDAPR; x86: locked
  bool decides = false;    ///< a branch depends on the value read
  int partner = -1;        ///< the other half of a read-modify-write

  [[nodiscard]] bool reads() const { return what == kind::load; }
  [[nodiscard]] bool writes() const { return what == kind::store; }
};

/// The interface by which a body loads and stores. Places are numbers from 0.
class explored_thread {
 public:
  using order = std::memory_order;
  explored_thread(processor on, int number, const std::vector<std::vector<int>>& values,
                  std::vector<std::size_t>& choices)
      : on_(on), number_(number), values_(values), choices_(choices) {}

  /// The value read. Comparing it is a branch: later stores wait for it.
  class seen {
   public:
    seen(explored_thread& by, std::size_t event) : by_(by), event_(event) {}
    friend bool operator==(const seen& s, int value) { return s.branch() == value; }
    [[nodiscard]] bool is_odd() const { return branch() % 2 != 0; }
    /// The value without a branch, to be told at the end.
    [[nodiscard]] int value() const { return by_.events_[event_].value; }
    /// For `==` with the value of another load.
    [[nodiscard]] int branch() const {
      by_.events_[event_].decides = true;
      return value();
    }

   private:
    explored_thread& by_;
    std::size_t event_;
  };

  seen load(int place, order how);
  void store(int place, int value, order how);
  void fence(order how);
  int exchange(int place, int value, order how);
  int add(int place, int value, order how);
  /// True if the old value was `expected`.
  bool compare_exchange(int place, int expected, int value, order how);
  /// Gives up the run if `condition` is false: only waits that end and searches that succeed are explored.
  void require(bool condition) const;
  /// Reports `value` as number `what` of the outcome.
  void tell(int what, int value);

 private:
  friend class order_explorer;
  struct gives_up {};
  std::size_t read(int place, bool acquires, bool is_strong);
  void write(int place, int value, bool releases, bool is_strong);
  template <class Change>
  int modify(int place, order how, const Change& change);
  void barrier(order_event::kind what);

  processor on_;
  int number_;
  const std::vector<std::vector<int>>& values_;
  std::vector<std::size_t>& choices_;
  std::size_t chosen_ = 0;
  std::vector<order_event> events_;
  std::vector<std::pair<int, int>> told_;
};

/// The outcome: the values told (-1: not told), and the final value of each place.
struct order_outcome {
  std::vector<int> told;
  std::vector<int> last;
};

struct order_program {
  std::vector<int> initial;  ///< initial value of each place
  std::vector<std::function<void(explored_thread&)>> bodies;
  int tells = 0;  ///< the number of values told
};

/// True if the processor allows an outcome for which `condition` holds.
bool can_happen(processor on, const order_program& program,
                const std::function<bool(const order_outcome&)>& condition);

/// One possible execution.
struct order_execution {
  std::vector<order_event> events;
  order_relation program_order;
  order_relation reads_from;  ///< from store to load
  order_relation coherence;   ///< from each store to all later ones of the same place
};

/// True if the processor allows it. Precondition: each place on its own is coherent.
bool is_allowed(processor on, const order_execution& x);

}  // namespace protocols
