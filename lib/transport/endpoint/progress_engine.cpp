// SPDX-License-Identifier: Apache-2.0
#include <chorale/core/background.hpp>
#include <chorale/core/uncancellable.hpp>
#include <chorale/transport/endpoint/progress_engine.hpp>
#include <chorale/transport/memory/registration_cache.hpp>
#include <chorale/transport/observers/observed_calls.hpp>

#include "../liveness/watchdog.hpp"

namespace chorale::transport {

progress_engine::progress_engine(const parts& p, std::unique_ptr<watchdog> looks_after, bool spin)
    : parts_(p), watchdog_(std::move(looks_after)), spin_(spin) {}

progress_engine::~progress_engine() = default;

void progress_engine::progress() {
  parts_.channel.read();
  parts_.channel.poll_sends();
  parts_.groups.progress();
  parts_.user.on_progress();
}

void progress_engine::progress_all() {
  progress();
  parts_.failed.check();
  // Other ranks may be waiting for calls that this thread has started on other communicators.
  background::advance_all(attention::passes);
  background::rethrow_failure();
}

void progress_engine::wait_to_leave(const std::function<std::optional<int>()>& awaited) {
  // operation::none, since the last call is over.
  watched_wait w{-1, {parts_.calls.current().number, 0, operation::none}};
  struct ended {
    watchdog& looks_after;
    watched_wait& w;
    ~ended() {
      if (w.has_begun()) looks_after.end(w);
    }
  } const at_end{*watchdog_, w};
  // A rank that leaves is in no hurry, and others may need its core.
  backoff pace{false};
  while (!parts_.failed.has_any()) {
    const std::optional<int> peer = awaited();
    if (!peer) return;
    w.expect(*peer);
    background::advance_all(attention::passes);
    if (!pace()) continue;
    const auto now = clock::now();
    watchdog_->begin(w, now, attention::waits);
    const auto waited = watchdog_->judge_leaving(w, now);
    if (!waited) return;
    pace.elapsed(*waited);
  }
}

clock::duration progress_engine::advance(attention how) {
  const auto frame = parked_.frame;
  if (!frame) return {};
  try {
    const auto ready = [this] { return parked_.ready(parked_.awaiter); };
    if (how == attention::waits) {
      wait([this] { return parked_.awaited_peer(); }, parked_.watch->now(), ready);
    } else if (!ready()) {
      parked_.watch->expect(parked_.awaited_peer());
      return parked_.watch->check(how);
    }
  } catch (...) {
    parked_.failure = std::current_exception();
    parts_.failed.withdraw_after(parked_.failure);
  }
  parked_.watch->end();
  parked_.frame = {};
  frame.resume();
  return {};
}

void progress_engine::withdraw_if_unwinding(int then) noexcept {
  const int outside = exceptions_outside_ == not_driven ? then : exceptions_outside_;
  if (std::uncaught_exceptions() > outside) parts_.failed.withdraw_after(nullptr);
}

clock::duration progress_engine::check(watched_wait& w, attention how) {
  const auto now = clock::now();
  watchdog_->begin(w, now, how);
  if (parts_.use.is_disturbed()) [[unlikely]]
    parts_.use.refuse(w.call().what);
  progress_all();
  return watchdog_->judge(w, now, how, [this] { progress_all(); });
}

void progress_engine::end(watched_wait& w) noexcept {
  watchdog_->end(w);
}

bool progress_engine::begin_observed() noexcept {
  return parts_.calls.observed().begin_wait();
}

bool progress_engine::begin_long_observed(call_id now) noexcept {
  return parts_.calls.is_observed() && parts_.calls.observed().begin_long_wait(now);
}

void progress_engine::end_observed(int peer, call_id now) noexcept {
  if (parts_.calls.is_observed()) parts_.calls.observed().end_wait(now.number, peer);
}

void slow_wait::observe() noexcept {
  has_end_ = is_observed_ = engine_->begin_observed();
}

clock::duration slow_wait::check(attention how) {
  const detail::uncancellable ends_first;
  has_end_ = true;
  if (!is_observed_ && how == attention::waits) is_observed_ = engine_->begin_long_observed(wait_.call());
  return engine_->check(wait_, how);
}

void slow_wait::finish() noexcept {
  has_end_ = false;
  if (is_observed_) engine_->end_observed(wait_.peer(), wait_.call());
  if (wait_.has_begun()) engine_->end(wait_);
}

void withdrawal_guard::end() const noexcept {
  engine_->withdraw_if_unwinding(exceptions_);
}

}  // namespace chorale::transport
