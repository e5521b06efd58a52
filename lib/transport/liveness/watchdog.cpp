// SPDX-License-Identifier: Apache-2.0
#include "watchdog.hpp"

#include <fmt/format.h>

#include <chorale/core/error.hpp>

namespace chorale::transport {

watchdog::watchdog(const membership& group, const config& settings, endpoint_user& user, call_record& calls,
                   liveness& lives, failures& failed, inquiry& asks)
    : rank_(group.rank()),
      user_(&user),
      calls_(&calls),
      lives_(&lives),
      failures_(&failed),
      asks_(&asks),
      reports_(group, settings, calls, lives, asks) {}

void watchdog::begin(watched_wait& w, clock::time_point now, attention how) {
  if (!w.has_begun()) w.begin(now, lives_->begin(w.peer()));
  calls_->note_wait(w.call(), w.peer(), w.since(), watched_wait::shown_until(now, how));
}

void watchdog::end(watched_wait& w) noexcept {
  calls_->page().end_wait();
  if (w.end()) reports_.cancel();
}

clock::duration watchdog::judge(watched_wait& w, clock::time_point now, attention how,
                                const std::function<void()>& progress_all) {
  const auto waited = lives_->attended_now() - w.judged().since;
  const auto verdict = lives_->judge(w.judged_by(how));
  end_in_vain(verdict, w, progress_all);
  const auto next = w.next(now, waited, how, verdict.what == failure_detector::outcome::stalled);
  report(w, next);
  if (next.probes) probe(w, next.asks_others);
  return waited;
}

std::optional<clock::duration> watchdog::judge_leaving(watched_wait& w, clock::time_point now) {
  const auto waited = lives_->attended_now() - w.judged().since;
  const auto verdict = lives_->judge(w.judged_by(attention::waits));
  if (verdict.what == failure_detector::outcome::deadline) return std::nullopt;
  const auto next = w.next(now, waited, attention::waits, verdict.what == failure_detector::outcome::stalled);
  report(w, next);
  if (next.probes) lives_->check_some(w.peer());
  return waited;
}

void watchdog::report(watched_wait& w, const watched_wait::steps& next) {
  if (next.begins_survey) reports_.begin();
  if (next.surveys && reports_.advance(w.peer(), w.call(), w.judged().since)) w.end_survey();
}

void watchdog::end_in_vain(const failure_detector::verdict& v, const watched_wait& w,
                           const std::function<void()>& progress_all) {
  using outcome = failure_detector::outcome;
  switch (v.what) {
    case outcome::keep_waiting:
    case outcome::stalled:
      return;
    case outcome::dead:
      failures_->lose(v.peer, "its process has ended without a farewell: it was killed, crashed or exited");
    case outcome::left:
      fail_by_leaving(v.peer, w.call());
    case outcome::silent:
      failures_->lose(v.peer, lives_->describe_silence(v.peer));
    case outcome::deadline:
      reports_.fail_by_deadline(w.peer(), w.call(), progress_all);
  }
}

void watchdog::probe(const watched_wait& w, bool asks_others) {
  const int peer = w.peer();
  if (peer >= 0) {
    asks_->judge_newest(peer, w.call());
    if (!lives_->is_gone(peer)) {
      asks_->ask(peer, w.call());
      user_->probe(peer);
    }
  }
  lives_->check_some(peer);
  for (const int dead : lives_->dead())
    for (const int witness : lives_->witnesses(dead, peer)) asks_->ask_about(dead, witness);
  if (const int absent = lives_->absent_stranger(peer); absent >= 0)
    for (const int keeper : lives_->keepers_of(absent)) asks_->ask_about(absent, keeper);
  for (const int other : lives_->whom_to_ask(peer, asks_others)) asks_->ask(other, w.call());
}

void watchdog::fail_by_leaving(int peer, call_id now) {
  const std::string call = calls_->describe(now.number);
  if (peer < 0)
    throw error(errc::peer_lost,
                fmt::format("all other ranks have left: they destroyed their communicators while rank {} is "
                            "in {}",
                            rank_, call));
  // The peer may have left after another call than the one in which this rank waits for it.
  asks_->judge_farewell(peer, now);
  failures_->lose(peer,
                  fmt::format("it has left: it destroyed its communicator while this rank is in {}", call));
}

}  // namespace chorale::transport
