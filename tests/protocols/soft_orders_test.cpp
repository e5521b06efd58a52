// SPDX-License-Identifier: Apache-2.0
// soft0's protocols over shared memory that rely on more than a release and an acquire (lib/soft/orders.hpp):
// all outcomes on x86, ARM and POWER; and that weaker orders are found to be wrong.
#include <functional>

#include <catch2/catch.hpp>

#include "order_explorer.hpp"
#include "soft/orders.hpp"

namespace protocols {
namespace {

namespace orders = chorale::soft::orders;
using order = std::memory_order;
constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto sequential = std::memory_order_seq_cst;

using condition = std::function<bool(const order_outcome&)>;

bool happens_somewhere(const order_program& program, const condition& wrong) {
  bool happens = false;
  for (const processor on : all_processors) happens = happens || can_happen(on, program, wrong);
  return happens;
}
/// A program without any outcome proves nothing.
bool ends_everywhere(const order_program& program) {
  bool ends = true;
  for (const processor on : all_processors)
    ends = ends && can_happen(on, program, [](const order_outcome&) { return true; });
  return ends;
}
void check_right(const order_program& program, const condition& wrong) {
  CHECK(ends_everywhere(program));
  CHECK_FALSE(happens_somewhere(program, wrong));
}

constexpr int of_before = 1;  ///< a copier's value
constexpr int of_owner = 2;   ///< the owner's value, written once no copy is in progress

/// `process::quiesce`, after the change has been published.
void quiesce(explored_thread& t, int lock) {
  t.fence(sequential);
  if (t.load(lock, sequential) == 0) return;
  t.require(t.load(lock, acquire) == 0);
}

/// A peer copies into memory of a queue pair that leaves service, whose owner then uses that memory.
struct leaving {
  enum place { lock, state, memory };
  static constexpr int in_service = 1;

  static order_program program(order looking) {
    return {{0, in_service, 0},
            {[=](explored_thread& t) {
               t.require(t.compare_exchange(lock, 0, 1, sequential));
               if (t.load(state, looking) == in_service) {
                 t.tell(0, t.load(memory, relaxed).value());
                 t.store(memory, of_before, relaxed);
               }
               t.store(lock, 0, release);
             },
             [](explored_thread& t) {
               t.store(state, 0, sequential);
               quiesce(t, lock);
               t.store(memory, of_owner, relaxed);
             }},
            1};
  }
  static bool is_wrong(const order_outcome& o) { return o.last[memory] != of_owner || o.told[0] == of_owner; }
};

/// A peer looks a memory region up and copies into it, while its owner ends it and registers another in its
/// place.
struct reregistering {
  enum place { lock, generation, address, key, memory };
  static constexpr int old_address = 10;
  static constexpr int new_address = 20;

  static order_program program(order looking) {
    return {{0, 1, old_address, old_address, 0},
            {[=](explored_thread& t) {
               t.require(t.compare_exchange(lock, 0, 1, sequential));
               const auto first = t.load(generation, looking);
               t.require(first.is_odd());
               const auto where = t.load(address, relaxed);
               const auto by = t.load(key, relaxed);
               t.fence(acquire);
               t.require(t.load(generation, relaxed) == first.value());
               t.tell(0, where.value());
               t.tell(1, by.value());
               if (where == old_address) t.store(memory, of_before, relaxed);
               t.store(lock, 0, release);
             },
             [](explored_thread& t) {
               t.add(generation, 1, sequential);
               quiesce(t, lock);
               t.store(memory, of_owner, relaxed);
               t.store(address, new_address, relaxed);
               t.store(key, new_address, relaxed);
               t.store(generation, 3, release);
             }},
            2};
  }
  static bool is_wrong(const order_outcome& o) {
    return o.told[0] != o.told[1] || o.last[memory] != of_owner;
  }
};

/// The same if a thread of the owner copies for the peer, which holds the lock meanwhile.
struct served_copy {
  enum place { lock, phase, generation, memory };
  enum { idle, request, busy, done };

  static order_program program(order looking) {
    return {{0, idle, 1, 0},
            {[](explored_thread& t) {
               t.require(t.compare_exchange(lock, 0, 1, sequential));
               t.store(phase, request, release);
               t.require(t.load(phase, acquire) == done);
               t.store(lock, 0, release);
             },
             [=](explored_thread& t) {
               t.require(t.compare_exchange(phase, request, busy, sequential));
               if (t.load(generation, looking) == 1) t.store(memory, of_before, relaxed);
               t.store(phase, done, release);
             },
             [](explored_thread& t) {
               t.add(generation, 1, sequential);
               quiesce(t, lock);
               t.store(memory, of_owner, relaxed);
             }},
            0};
  }
  static bool is_wrong(const order_outcome& o) { return o.last[memory] != of_owner; }
};

/// A bounce slot whose user dies after its request, and the next user: neither gets the other's data, whether
/// the request is served or withdrawn.
struct left_request {
  enum place { lock, phase, data, result, death };
  static constexpr int first = 10;  ///< phases of the lock's first hold, and its data
  static constexpr int second = 20;
  static constexpr int request = 1;
  static constexpr int busy = 2;
  static constexpr int done = 3;

  struct orders {
    order requests = release;
    order takes = sequential;
    order ends = release;
    order sees = acquire;
  };
  static order_program program(orders by) {
    return {{0, 0, 0, 0, 0},
            {[=](explored_thread& t) {
               t.require(t.compare_exchange(lock, 0, 1, sequential));
               t.store(data, first, relaxed);
               t.store(phase, first + request, by.requests);
               t.store(death, 1, release);  // as the kernel reports it
             },
             [=](explored_thread& t) {
               t.require(t.load(death, acquire) == 1);
               t.require(t.compare_exchange(lock, 1, 2, sequential));
               const auto left = t.load(phase, by.sees);
               t.require(left == first + request || left == first + done || left == 0);
               if (left == first + request)
                 t.require(t.compare_exchange(phase, first + request, first, sequential));
               t.store(data, second, relaxed);
               t.store(phase, second + request, by.requests);
               t.require(t.load(phase, by.sees) == second + done);
               t.tell(2, t.load(result, relaxed).value());
             },
             [=](explored_thread& t) {
               for (int round = 0; round < 2; ++round) {
                 const auto seen = t.load(phase, relaxed);
                 const int hold = seen == second + request ? second : first;
                 t.require(seen == hold + request);
                 t.require(t.compare_exchange(phase, hold + request, hold + busy, by.takes));
                 const int read = t.load(data, relaxed).value();
                 t.tell(hold == first ? 0 : 1, read);
                 t.store(result, read, relaxed);
                 t.store(phase, hold + done, by.ends);
                 if (hold == second) return;
               }
             }},
            3};
  }
  static bool is_wrong(const order_outcome& o) {
    return (o.told[0] != first && o.told[0] != -1) || o.told[1] != second || o.told[2] != second;
  }
};

/// Two peers leave work for a process, which attends to the first peer's work.
struct attending {
  enum place { attention, mutex, of_one, of_other };
  enum class clears { by_store, by_exchange, before_fence };

  static order_program program(order calling, clears how) {
    const auto peer = [=](int work) {
      return [=](explored_thread& t) {
        t.store(work, 1, release);
        t.store(attention, 1, calling);
      };
    };
    return {{0, 0, 0, 0},
            {peer(of_one), peer(of_other),
             [=](explored_thread& t) {
               t.require(t.load(attention, relaxed) == 1);
               switch (how) {
                 case clears::by_store:
                   t.store(attention, 0, sequential);
                   break;
                 case clears::by_exchange:
                   t.exchange(attention, 0, std::memory_order_acq_rel);
                   break;
                 case clears::before_fence:
                   t.store(attention, 0, relaxed);
                   t.fence(orders::calling_attention);
                   break;
               }
               t.exchange(mutex, 1, acquire);
               t.tell(0, t.load(of_one, relaxed).value());
               t.tell(1, t.load(of_other, relaxed).value());
             }},
            2};
  }
  /// The process will not check again, but has not seen all work.
  static bool is_wrong(const order_outcome& o) {
    return o.last[attention] == 0 && (o.told[0] == 0 || o.told[1] == 0);
  }
};

/// A receive is posted while its queue pair fails: one of the two threads must flush it.
struct failing {
  enum place { state, tail, lock };
  static order_program program(bool fences) {
    return {{0, 0, 0},
            {[=](explored_thread& t) {
               t.store(tail, 1, release);
               if (fences) t.fence(orders::after_posting);
               t.tell(0, t.load(state, acquire).value());
             },
             [](explored_thread& t) {
               t.exchange(state, 1, sequential);
               t.require(t.compare_exchange(lock, 0, 1, sequential));
               t.tell(1, t.load(tail, acquire).value());
             }},
            2};
  }
  static bool is_wrong(const order_outcome& o) { return o.told[0] == 0 && o.told[1] == 0; }
};

/// A sender reads a multicast membership whose entry is reused for another group, by another queue pair or
/// the same one.
struct joining_another {
  enum place { version, queue_pair, group };
  enum class how { versions, versions_without_fences, queue_pair_last };

  static order_program program(how way) {
    return {{2, 1, 1},
            {[=](explored_thread& t) {
               const auto first = t.load(version, acquire);
               const auto member = t.load(queue_pair, way == how::queue_pair_last ? acquire : relaxed);
               const auto of = t.load(group, relaxed);
               if (way == how::queue_pair_last) {
                 t.require(!(member == 0));
               } else {
                 t.require(!first.is_odd());
                 if (way == how::versions) t.fence(acquire);
                 t.require(t.load(version, relaxed) == first.value());
               }
               t.tell(0, member.value());
               t.tell(1, of.value());
             },
             [=](explored_thread& t) {
               if (way == how::queue_pair_last) {
                 t.store(queue_pair, 0, sequential);
                 t.store(group, 2, sequential);
                 t.store(queue_pair, 2, release);
                 return;
               }
               t.store(version, 3, relaxed);
               if (way == how::versions) t.fence(release);
               t.store(group, 2, relaxed);
               t.store(queue_pair, 2, relaxed);
               t.store(version, 4, release);
             }},
            2};
  }
  static bool is_wrong(const order_outcome& o) { return o.told[0] != o.told[1]; }
};

}  // namespace

TEST_CASE("orders: no peer copies into memory of a queue pair that has left service") {
  check_right(leaving::program(orders::behind_lock), leaving::is_wrong);
  // A plain acquire is wrong on other processors; on x86 taking the lock orders everything.
  CHECK_FALSE(can_happen(processor::x86, leaving::program(acquire), leaving::is_wrong));
  CHECK(can_happen(processor::arm, leaving::program(acquire), leaving::is_wrong));
  CHECK(can_happen(processor::power, leaving::program(acquire), leaving::is_wrong));
}

TEST_CASE("orders: a looked-up region is consistent, and no peer copies into it after its end") {
  check_right(reregistering::program(orders::behind_lock), reregistering::is_wrong);
  CHECK(can_happen(processor::power, reregistering::program(acquire), reregistering::is_wrong));
}

TEST_CASE("orders: a process does not copy for a peer into a region after its end") {
  check_right(served_copy::program(orders::behind_lock), served_copy::is_wrong);
  CHECK(can_happen(processor::power, served_copy::program(acquire), served_copy::is_wrong));
}

TEST_CASE("orders: a bounce slot's users do not get each other's data") {
  check_right(left_request::program({}), left_request::is_wrong);
  CHECK(happens_somewhere(left_request::program({.requests = relaxed}), left_request::is_wrong));
  CHECK(happens_somewhere(left_request::program({.takes = relaxed}), left_request::is_wrong));
  CHECK(happens_somewhere(left_request::program({.ends = relaxed}), left_request::is_wrong));
  CHECK(happens_somewhere(left_request::program({.sees = relaxed}), left_request::is_wrong));
}

TEST_CASE("orders: work that is left for a process is seen") {
  using clears = attending::clears;
  check_right(attending::program(orders::calling_attention, clears::before_fence), attending::is_wrong);
  CHECK(can_happen(processor::power, attending::program(sequential, clears::by_store), attending::is_wrong));
  CHECK(
      can_happen(processor::power, attending::program(sequential, clears::by_exchange), attending::is_wrong));
  CHECK(can_happen(processor::power, attending::program(release, clears::before_fence), attending::is_wrong));
}

TEST_CASE("orders: a receive posted while its queue pair fails is flushed") {
  check_right(failing::program(true), failing::is_wrong);
  CHECK(can_happen(processor::x86, failing::program(false), failing::is_wrong));
}

TEST_CASE("orders: a multicast goes to no queue pair of another group") {
  using how = joining_another::how;
  check_right(joining_another::program(how::versions), joining_another::is_wrong);
  CHECK(can_happen(processor::arm, joining_another::program(how::versions_without_fences),
                   joining_another::is_wrong));
  CHECK(
      can_happen(processor::x86, joining_another::program(how::queue_pair_last), joining_another::is_wrong));
}

}  // namespace protocols
