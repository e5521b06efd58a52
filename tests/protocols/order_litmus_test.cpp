// SPDX-License-Identifier: Apache-2.0
// Checks that the explorer agrees with the literature on the usual litmus tests for each processor.
#include <algorithm>
#include <functional>
#include <initializer_list>
#include <ostream>

#include <catch2/catch.hpp>

#include "order_explorer.hpp"

namespace protocols {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto sequential = std::memory_order_seq_cst;
using order = std::memory_order;

constexpr int x = 0;
constexpr int y = 1;

struct found {
  bool on_x86;
  bool on_arm;
  bool on_power;
  friend bool operator==(const found&, const found&) = default;
};
std::ostream& operator<<(std::ostream& out, const found& f) {
  return out << "x86 " << f.on_x86 << ", ARM " << f.on_arm << ", POWER " << f.on_power;
}

constexpr found nowhere{false, false, false};

found find(const order_program& program, const std::function<bool(const order_outcome&)>& condition) {
  return {can_happen(processor::x86, program, condition), can_happen(processor::arm, program, condition),
          can_happen(processor::power, program, condition)};
}

bool all_told(const order_outcome& o, std::initializer_list<int> values) {
  return std::equal(values.begin(), values.end(), o.told.begin());
}

/// Each of two threads stores to its own place, and reads the old value of the other's.
found store_buffering(order storing, order loading, bool fences) {
  const auto body = [=](int mine, int other) {
    return [=](explored_thread& t) {
      t.store(mine, 1, storing);
      if (fences) t.fence(sequential);
      t.tell(mine, t.load(other, loading).value());
    };
  };
  return find({{0, 0}, {body(x, y), body(y, x)}, 2}, [](const auto& o) { return all_told(o, {0, 0}); });
}

/// The same, with an update instead of the store.
found update_buffering(order updating, order loading) {
  const auto body = [=](int mine, int other) {
    return [=](explored_thread& t) {
      t.exchange(mine, 1, updating);
      t.tell(mine, t.load(other, loading).value());
    };
  };
  return find({{0, 0}, {body(x, y), body(y, x)}, 2}, [](const auto& o) { return all_told(o, {0, 0}); });
}

/// A flag is seen, but not an earlier store.
found message_passing(order storing, order loading) {
  return find({{0, 0},
               {[=](explored_thread& t) {
                  t.store(x, 1, relaxed);
                  t.store(y, 1, storing);
                },
                [=](explored_thread& t) {
                  t.require(t.load(y, loading) == 1);
                  t.tell(0, t.load(x, relaxed).value());
                }},
               1},
              [](const auto& o) { return o.told[0] == 0; });
}

/// Each of two threads reads a value that the other stores later.
found load_buffering(order loading, order storing) {
  const auto body = [=](int from, int to) {
    return [=](explored_thread& t) {
      t.tell(from, t.load(from, loading).value());
      t.store(to, 1, storing);
    };
  };
  return find({{0, 0}, {body(x, y), body(y, x)}, 2}, [](const auto& o) { return all_told(o, {1, 1}); });
}

/// Two readers see the stores of two writers in different orders.
found independent_reads(order loading) {
  const auto writer = [](int place) { return [=](explored_thread& t) { t.store(place, 1, sequential); }; };
  const auto reader = [=](int first, int second, int what) {
    return [=](explored_thread& t) {
      t.require(t.load(first, loading) == 1);
      t.tell(what, t.load(second, loading).value());
    };
  };
  return find({{0, 0}, {writer(x), writer(y), reader(x, y, 0), reader(y, x, 1)}, 2}, [](const auto& o) {
    return all_told(o, {0, 0});
  });
}

/// A value that one thread has seen and passes on is not seen by the next.
found causality(order passing) {
  return find({{0, 0},
               {[](explored_thread& t) { t.store(x, 1, relaxed); },
                [=](explored_thread& t) {
                  t.require(t.load(x, relaxed) == 1);
                  t.store(y, 1, passing);
                },
                [](explored_thread& t) {
                  t.require(t.load(y, acquire) == 1);
                  t.tell(0, t.load(x, relaxed).value());
                }},
               1},
              [](const auto& o) { return o.told[0] == 0; });
}

/// A store is last in its place's order, and the load after it does not see what preceded the other store.
found store_and_load(order storing, order loading) {
  return find({{0, 0},
               {[](explored_thread& t) {
                  t.store(x, 1, relaxed);
                  t.store(y, 1, sequential);
                },
                [=](explored_thread& t) {
                  t.store(y, 2, storing);
                  t.tell(0, t.load(x, loading).value());
                }},
               1},
              [](const auto& o) { return o.last[y] == 2 && o.told[0] == 0; });
}

}  // namespace

TEST_CASE("the explorer of orders gives each processor's outcomes of small programs") {
  CHECK(store_buffering(relaxed, relaxed, false) == found{true, true, true});
  CHECK(store_buffering(release, acquire, false) == found{true, true, true});
  CHECK(store_buffering(sequential, sequential, false) == nowhere);
  CHECK(store_buffering(relaxed, relaxed, true) == nowhere);
  CHECK(update_buffering(sequential, acquire) == found{false, true, true});
  CHECK(update_buffering(sequential, sequential) == nowhere);
  CHECK(message_passing(relaxed, relaxed) == found{false, true, true});
  CHECK(message_passing(release, relaxed) == found{false, true, true});
  CHECK(message_passing(relaxed, acquire) == found{false, true, true});
  CHECK(message_passing(release, acquire) == nowhere);
  CHECK(load_buffering(relaxed, relaxed) == found{false, true, true});
  CHECK(load_buffering(acquire, relaxed) == nowhere);
  CHECK(load_buffering(relaxed, release) == nowhere);
  CHECK(independent_reads(relaxed) == found{false, true, true});
  CHECK(independent_reads(acquire) == found{false, false, true});
  CHECK(independent_reads(sequential) == nowhere);
  CHECK(causality(relaxed) == found{false, false, true});
  CHECK(causality(release) == nowhere);
  CHECK(store_and_load(sequential, acquire) == found{false, true, true});
  CHECK(store_and_load(sequential, sequential) == nowhere);
}

TEST_CASE("the explorer of orders: an update is one step, and a place has one order") {
  const order_program additions{
      {0},
      {[](explored_thread& t) { t.add(x, 1, relaxed); }, [](explored_thread& t) { t.add(x, 1, relaxed); }},
      0};
  CHECK(find(additions, [](const auto& o) { return o.last[x] != 2; }) == nowhere);
  const order_program backwards{{0},
                                {[](explored_thread& t) { t.store(x, 1, relaxed); },
                                 [](explored_thread& t) {
                                   t.tell(0, t.load(x, relaxed).value());
                                   t.tell(1, t.load(x, relaxed).value());
                                 }},
                                2};
  CHECK(find(backwards, [](const auto& o) { return all_told(o, {1, 0}); }) == nowhere);
}

}  // namespace protocols
