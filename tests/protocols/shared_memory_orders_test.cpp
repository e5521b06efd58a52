// SPDX-License-Identifier: Apache-2.0
// Status pages and slots of a host: all outcomes on x86, ARM and POWER; and that weaker orders are found to
// be wrong.
#include <functional>

#include <catch2/catch.hpp>

#include "order_explorer.hpp"

namespace protocols {
namespace {

using order = std::memory_order;
constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto release = std::memory_order_release;
constexpr auto acquire = std::memory_order_acquire;

/// A rank begins two more calls; the second overwrites the row of the call that another thread reads.
struct status_row {
  enum place { current, first, second };

  static order_program program(order writing, order reading) {
    return {{1, 1, 1},
            {[=](explored_thread& t) {
               t.store(current, 2, release);
               t.store(first, 3, writing);
               t.store(second, 3, writing);
               t.store(current, 3, release);
             },
             [=](explored_thread& t) {
               t.require(t.load(current, acquire) == 1);
               t.tell(0, t.load(first, reading).value());
               t.tell(1, t.load(second, reading).value());
               t.require(t.load(current, acquire) == 1);
             }},
            2};
  }
  static bool is_wrong(const order_outcome& o) { return o.told[0] != 1 || o.told[1] != 1; }
};

/// A rank reads the slot of another, which overwrites it two uses later, when both have arrived at the use in
/// between.
struct slot_reuse {
  enum place { counter, slot };

  static order_program program(order arriving) {
    return {{0, 0},
            {[=](explored_thread& t) {
               t.store(slot, 1, relaxed);
               t.add(counter, 1, arriving);
               t.require(t.add(counter, 1, arriving) == 3);
               t.store(slot, 3, relaxed);
             },
             [=](explored_thread& t) {
               t.require(t.add(counter, 1, arriving) == 1);
               t.tell(0, t.load(slot, relaxed).value());
               t.add(counter, 1, arriving);
             }},
            1};
  }
  static bool is_wrong(const order_outcome& o) { return o.told[0] != 1; }
};

bool is_any(const order_outcome&) {
  return true;
}

}  // namespace

TEST_CASE("orders: a call read from a status page is consistent, or is not found") {
  for (const processor on : all_processors) {
    CHECK(can_happen(on, status_row::program(release, acquire), is_any));
    CHECK_FALSE(can_happen(on, status_row::program(release, acquire), status_row::is_wrong));
  }
  CHECK(can_happen(processor::arm, status_row::program(relaxed, acquire), status_row::is_wrong));
  CHECK(can_happen(processor::arm, status_row::program(release, relaxed), status_row::is_wrong));
}

TEST_CASE("orders: a slot of a host is overwritten only when it has been read") {
  for (const processor on : all_processors) {
    CHECK(can_happen(on, slot_reuse::program(std::memory_order_acq_rel), is_any));
    CHECK_FALSE(can_happen(on, slot_reuse::program(std::memory_order_acq_rel), slot_reuse::is_wrong));
  }
  CHECK(can_happen(processor::arm, slot_reuse::program(acquire), slot_reuse::is_wrong));
  CHECK(can_happen(processor::arm, slot_reuse::program(release), slot_reuse::is_wrong));
}

}  // namespace protocols
