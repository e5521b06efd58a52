// All that a few threads can do to memory that they share, on processors that reorder: for protocols that are
// more than a release and an acquire.
//
// A body is run once for each combination of values that its loads could return; what it did is a list of
// events. Of each combination of such lists all ways are tried in which loads read from stores and stores of
// one place follow each other, and those judged that the processor's model allows (`order_models.cpp`).
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

/// A load, a store or a barrier, as the processor's instructions have them.
struct order_event {
  enum class kind { load, store, light_barrier, load_barrier, full_barrier };
  kind what = kind::load;
  int thread = -1;         ///< -1: the memory's initial value
  int place = -1;          ///< of a load or a store
  int value = 0;           ///< read or written
  bool acquires = false;   ///< ARM: LDAPR or LDAR; POWER: followed by a branch and isync
  bool releases = false;   ///< ARM: STLR
  bool is_strong = false;  ///< ARM: LDAR, not LDAPR; x86: locked
  bool decides = false;    ///< a branch depends on what it read
  int partner = -1;        ///< the other half of a read-modify-write

  [[nodiscard]] bool reads() const { return what == kind::load; }
  [[nodiscard]] bool writes() const { return what == kind::store; }
};

/// What a body does its loads and stores by. Places are numbers from 0.
class explored_thread {
 public:
  using order = std::memory_order;
  explored_thread(processor on, int number, const std::vector<std::vector<int>>& values,
                  std::vector<std::size_t>& choices)
      : on_(on), number_(number), values_(values), choices_(choices) {}

  /// The value read. Comparing it is a branch: what is stored behind it waits for it.
  class seen {
   public:
    seen(explored_thread& by, std::size_t event) : by_(by), event_(event) {}
    friend bool operator==(const seen& s, int value) { return s.branch() == value; }
    [[nodiscard]] bool is_odd() const { return branch() % 2 != 0; }
    /// Without a branch: for what is told at the end.
    [[nodiscard]] int value() const { return by_.events_[event_].value; }
    /// For `==` with what another load has read.
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
  /// True if it was `expected`.
  bool compare_exchange(int place, int expected, int value, order how);
  /// Only what goes on is explored: a wait that ends, a loop that finds what it looks for.
  void require(bool condition) const;
  /// For the judgement: number `what` is `value`.
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

/// What has come out: what was told (-1 if it was not), and what each place is in the end.
struct order_outcome {
  std::vector<int> told;
  std::vector<int> last;
};

struct order_program {
  std::vector<int> initial;  ///< values of the places
  std::vector<std::function<void(explored_thread&)>> bodies;
  int tells = 0;  ///< how many things are told
};

/// True if the processor allows an outcome of which `condition` holds.
bool can_happen(processor on, const order_program& program,
                const std::function<bool(const order_outcome&)>& condition);

/// One way in which all of it may have happened.
struct order_execution {
  std::vector<order_event> events;
  order_relation program_order;
  order_relation reads_from;  ///< from store to load
  order_relation coherence;   ///< from each store to all later ones of its place
};

/// True if the processor allows it. Each place for itself is known to be coherent.
bool is_allowed(processor on, const order_execution& x);

}  // namespace protocols
