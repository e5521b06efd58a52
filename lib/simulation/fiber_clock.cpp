// SPDX-License-Identifier: Apache-2.0
// The clock that the simulated code sees.
#include <algorithm>
#include <chrono>
#include <cstddef>

#include "scheduler.hpp"

namespace chorale::simulation {
namespace {

using std::chrono::nanoseconds;

/// The simulated clock at the beginning of a simulation: some code takes a time of zero as "never".
constexpr clock::time_point beginning{std::chrono::hours{1}};

/// Converts the simulated code's time `when` to virtual time. `when` is centuries away where it means never.
instant virtual_time(clock::time_point when) {
  const auto longest = std::chrono::duration_cast<nanoseconds>(never.time_since_epoch());
  return instant{std::min<nanoseconds>(when - beginning, longest)};
}

}  // namespace

clock::time_point scheduler::fiber_clock::now() noexcept {
  return beginning + std::chrono::duration_cast<nanoseconds>(all->now().time_since_epoch());
}

void scheduler::fiber_clock::give_way() noexcept {
  all->give_way();
}

void scheduler::fiber_clock::sleep_until(clock::time_point end) noexcept {
  all->sleep_until(virtual_time(end));
}

void scheduler::fiber_clock::await_change(clock::time_point end) noexcept {
  all->sleep_until_signal(virtual_time(end));
}

void scheduler::fiber_clock::worked(host_work what, std::size_t bytes) noexcept {
  if (all->options_.work)
    all->charge(all->options_.work(what, bytes), {.what = activity_of(what), .bytes = bytes});
}

void scheduler::fiber_clock::copied(void* to, const void* from, std::size_t bytes) noexcept {
  if (all->options_.copied)
    all->charge(all->options_.copied(to, from, bytes), {.what = activity::copy, .bytes = bytes});
  else
    worked(host_work::copy, bytes);
}

void scheduler::fiber_clock::combined(void* mine, const void* other, std::size_t bytes) noexcept {
  if (all->options_.combined)
    all->charge(all->options_.combined(mine, other, bytes), {.what = activity::combine, .bytes = bytes});
  else
    worked(host_work::combine, bytes);
}

void scheduler::fiber_clock::changed() noexcept {
  all->signal(all->current_rank());
}

}  // namespace chorale::simulation
