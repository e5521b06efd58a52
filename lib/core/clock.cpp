// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <ctime>
#include <sched.h>

#include <chorale/core/clock.hpp>
#include <chorale/core/uncancellable.hpp>

namespace chorale {
namespace {

/// Long compared with the work between two naps, so that other threads get most of the core.
constexpr clock::duration shortest_nap = std::chrono::microseconds{50};

struct precedence {
  int looks_left = 0;
  bool has = false;
};
[[gnu::noinline, gnu::cold]] void look_up(precedence& mine) noexcept {
  const int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  mine = {.looks_left = 64, .has = policy == SCHED_FIFO || policy == SCHED_RR};
}

/// Whether the calling thread has a real-time policy, under which sched_yield() yields only to threads of
/// equal priority. Checked again from time to time, since another thread may change the policy.
bool has_precedence() noexcept {
  [[gnu::tls_model("initial-exec")]] static constinit thread_local precedence mine{};
  if (--mine.looks_left < 0) [[unlikely]]
    look_up(mine);
  return mine.has;
}

}  // namespace

constinit thread_local time_source* clock::source_ = nullptr;
constinit thread_local const int* clock::awake_for_ = nullptr;

clock::time_point clock::replaced_now() noexcept {
  return source_->now();
}

void clock::replaced_worked(host_work what, std::size_t bytes) noexcept {
  source_->worked(what, bytes);
}

void clock::replaced_copied(void* to, const void* from, std::size_t bytes) noexcept {
  source_->copied(to, from, bytes);
}

void clock::replaced_combined(void* mine, const void* other, std::size_t bytes) noexcept {
  source_->combined(mine, other, bytes);
}

void clock::replaced_changed() noexcept {
  source_->changed();
}

void clock::await_change(time_point end) noexcept {
  if (is_replaced()) source_->await_change(end);
}

void clock::give_way() noexcept {
  if (is_replaced())
    source_->give_way();
  else if (has_precedence())
    sleep_for(shortest_nap);
  else
    sched_yield();
}

void clock::sleep_for(duration time) noexcept {
  if (is_replaced()) return source_->sleep_until(source_->now() + time);
  if (time <= duration::zero()) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  const timespec whole{static_cast<std::time_t>(seconds.count()),
                       static_cast<long>(std::chrono::nanoseconds{time - seconds}.count())};
  const detail::uncancellable ends_first;
  nanosleep(&whole, nullptr);
}

void backoff::nap() const noexcept {
  if (clock::may_nap())
    clock::sleep_for(nap_);
  else
    clock::give_way();
}

}  // namespace chorale
