// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <coroutine>

#include <chorale/core/attention.hpp>
#include <chorale/core/background.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/progress.hpp>
#include <chorale/core/resumption.hpp>

#include "progress_alarm.hpp"

namespace chorale {
namespace {

/// As long as a nap in a blocking wait: at most 1/32 of the time waited so far.
clock::duration pause_after(clock::duration waited) noexcept {
  return std::min<clock::duration>(std::chrono::milliseconds{1}, waited / 32);
}

}  // namespace

bool progress() {
  background::list& all = background::mine();
  if (all.is_under_way()) return true;
  const background::remainder left = background::advance_all(attention::polls);
  progress_alarm* const alarm = all.own_alarm();
  bool has_resumed = false;
  try {
    has_resumed = all.coroutines().resume_due();
  } catch (...) {
    if (alarm != nullptr) alarm->ring_after({});
    throw;
  }
  const bool is_outstanding = all.is_outstanding();
  // Resumed coroutines may have started calls, or may have waited, while calls of others completed.
  if (alarm != nullptr && is_outstanding)
    alarm->ring_after(has_resumed ? clock::duration{} : pause_after(left.waited));
  else if (alarm != nullptr)
    alarm->silence();
  if (left.may_need_core && !has_resumed) clock::give_way();
  return is_outstanding;
}

int progress_descriptor() {
  if (clock::is_replaced())
    throw error(errc::unsupported,
                "progress_descriptor: a thread in virtual time has no file descriptor; its "
                "loop calls progress()");
  return background::mine().make_alarm().descriptor();
}

void detail::resumption::suspend(std::coroutine_handle<> frame) noexcept {
  frame_ = frame;
  background::mine().coroutines().add(*this);
}

bool detail::resumptions::resume_due() {
  for (ring_link* one = awaiting_.next(); one != &awaiting_;) {
    auto& now = static_cast<resumption&>(*one);
    one = now.next();
    if (now.is_due()) now.link_before(due_);
  }
  const bool has_any = !due_.is_alone();
  while (!due_.is_alone()) {
    auto& now = static_cast<resumption&>(*due_.next());
    now.unlink();
    now.frame_.resume();
  }
  return has_any;
}

}  // namespace chorale
