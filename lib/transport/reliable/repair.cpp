// Streams: loss, and what is done about it.
#include <chrono>
#include <mutex>
#include <utility>

#include <chorale/core/background.hpp>
#include <chorale/core/clock.hpp>

#include "stream.hpp"

namespace chorale::transport::reliable {
namespace {

/// Who has not looked for so long begins to wait anew: it was stopped itself, or did something else.
constexpr std::chrono::milliseconds longest_pause{500};

/// How often a rank that leaves looks who is dead among those that have not confirmed everything.
constexpr std::chrono::milliseconds look_interval{100};

}  // namespace

report_body streams::state_of(const stream& s) noexcept {
  report_body b{};
  b.held = s.in.held();
  b.signal = s.signal_newest;
  b.acknowledged = s.in.expected();
  b.released = static_cast<std::uint32_t>(s.released);
  b.refused = s.has_refused ? 1 : 0;
  return b;
}

std::span<const std::byte> streams::last_words(int peer) {
  const std::lock_guard hold{owner_->channel().lock()};
  last_words_ = state_of(at(peer));
  return std::as_bytes(std::span{&last_words_, 1});
}

void streams::on_farewell(int from, std::span<const std::byte> body) {
  if (from == owner_->rank()) return;
  if (const auto b = parse<report_body>(body)) take_state(at(from), *b);
}

void streams::take_state(stream& s, const report_body& b) {
  acknowledged(s, b.acknowledged, b.released, b.refused != 0);
  if (b.signal == s.signal_sent) s.signal_confirmed = true;
}

void streams::report(stream& s, resend what, bool solicited, std::uint64_t& counter) {
  report_body b = state_of(s);
  b.wanted = static_cast<std::uint32_t>(what);
  if (!owner_->channel().send(s.peer, static_cast<std::uint16_t>(stream_kind::report), wire(b), {},
                              solicited))
    return;
  s.told = s.released;
  ++counter;
}

void streams::ask(stream& s, bool solicited) {
  const question_body b{s.signal_sent, s.out.unsent(), 0};
  if (owner_->channel().send(s.peer, static_cast<std::uint16_t>(stream_kind::question), wire(b), {},
                             solicited))
    ++counts_.questions;
}

void streams::on_question(stream& s, const question_body& b) {
  const bool newer_signal = b.signal != s.signal_newest && reached(b.signal, s.signal_newest);
  const bool behind = distance(s.in.expected(), b.next) > 0 || newer_signal;
  report(s, behind ? resend::everything : resend::nothing, false,
         behind ? counts_.resend_requests : counts_.answers);
}

void streams::on_report(stream& s, const report_body& b) {
  take_state(s, b);
  const auto wanted = static_cast<resend>(b.wanted);
  if (wanted != resend::holes && wanted != resend::everything) return;
  const auto now = steady::now();
  // What has just been sent may still be on its way.
  const auto young = s.clock.transit();
  bool resent = false;
  if (b.acknowledged == s.out.oldest()) {
    s.out.for_missing(b.held, wanted == resend::everything,
                      [&](sequence number, const send_window::entry& e) {
                        if (now - e.sent_at >= young && transmit(s, number, false)) resent = true;
                      });
  }
  if (resent) s.allowance.on_loss();
  if (wanted != resend::everything) return;
  const bool newer_signal = b.signal != s.signal_sent && reached(s.signal_sent, b.signal);
  if (newer_signal && now - s.signal_when >= young && send_signal(s, s.signal_sent, s.signal_after)) {
    ++counts_.resent;
    resent = true;
  }
  // Who asks wants to know at least that this rank is alive.
  if (!resent) report(s, resend::nothing, false, counts_.answers);
}

void streams::waits(stream& s) {
  require_sound(s);
  pump(s);
  const auto now = steady::now();
  const bool goes_on = s.waits_since != steady::time_point{} && now - s.looked_at < longest_pause;
  s.looked_at = now;
  if (!goes_on) {
    s.waits_since = now;
    s.requests = 0;
    s.next_request = now + s.clock.timeout();
    return;
  }
  if (s.hole_since != steady::time_point{} && !s.hole_reported && now - s.hole_since > s.clock.transit()) {
    s.hole_reported = true;
    report(s, resend::holes, true, counts_.resend_requests);
  }
  if (now < s.next_request) return;
  report(s, resend::everything, true, counts_.resend_requests);
  s.next_request = now + s.clock.timeout(++s.requests);
}

void streams::expect(int from) {
  const std::lock_guard hold{owner_->channel().lock()};
  owner_->channel().read();
  for (const auto& s : streams_)
    if (s->peer != owner_->rank() && (from < 0 ? !owner_->liveness().is_gone(s->peer) : s->peer == from))
      waits(*s);
}

void streams::waited(stream& s) noexcept {
  s.waits_since = {};
}

void streams::press(stream& s) {
  const auto press_one = [this](stream& one) {
    pump(one);
    const auto now = steady::now();
    const bool goes_on = one.next_question != steady::time_point{} && now - one.pressed_at < longest_pause;
    one.pressed_at = now;
    if (!goes_on) {
      one.questions = 0;
      one.next_question = now + one.clock.timeout();
      return;
    }
    if (now < one.next_question) return;
    ask(one, true);
    one.next_question = now + one.clock.timeout(++one.questions);
  };
  press_one(s);
  if (pool_.has_room()) return;
  // The blocks are with other streams.
  for (const auto& other : streams_)
    if (other->peer != s.peer && other->out.outstanding() != 0) press_one(*other);
}

void streams::lag(stream& s) {
  if (std::exchange(s.lags, true)) return;
  lagging_.push_back(s.peer);
}

void streams::progress() {
  const std::lock_guard hold{owner_->channel().lock()};
  if (lagging_.empty()) return;
  for (const int peer : std::exchange(lagging_, {})) {
    stream& s = at(peer);
    s.lags = false;
    pump(s);
    send_replies(s);
    // Who waits for room in an answer is not asked for by anybody else.
    if (!s.replies.empty()) press(s);
  }
}

bool streams::is_unconfirmed(stream& s) const noexcept {
  return !owner_->liveness().is_lost(s.peer) && s.broken.empty() &&
         (s.out.outstanding() != 0 || !s.signal_confirmed);
}

void streams::close() noexcept {
  try {
    {
      const std::lock_guard hold{owner_->channel().lock()};
      for (const auto& s : streams_) s->next_question = {};
    }
    const steady::duration deadline = owner_->settings().deadline;
    const auto begin = owner_->liveness().attend();
    auto next_look = begin + look_interval;
    backoff pace{false};
    while (!owner_->failures().has_any() && !confirm()) {
      const auto now = owner_->liveness().attend();
      if (deadline != steady::duration::zero() && now - begin >= deadline) break;
      if (now >= next_look) {
        next_look = now + look_interval;
        for (const auto& s : streams_)
          if (is_unconfirmed(*s)) owner_->liveness().look_at_process(s->peer);
      }
      // Peers may wait for what this thread has begun elsewhere before they get to this communicator.
      background::get_on_with_all(attention::passes);
      if (pace()) pace.elapsed(now - begin);
    }
  } catch (...) {
    // What cannot be sent is seen by the peers as silence.
  }
  owner_->channel().stop_service();
}

bool streams::confirm() {
  const std::lock_guard hold{owner_->channel().lock()};
  owner_->channel().read();
  bool all_there = true;
  for (const auto& s : streams_) {
    if (!is_unconfirmed(*s)) continue;
    all_there = false;
    pump(*s);
    const auto now = steady::now();
    if (now < s->next_question) continue;
    ask(*s, true);
    owner_->liveness().expect_answer(s->peer);
    s->next_question = now + s->clock.timeout(s->questions++);
  }
  return all_there;
}

}  // namespace chorale::transport::reliable
