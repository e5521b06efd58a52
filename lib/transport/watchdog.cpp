#include "watchdog.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/error.hpp>

namespace chorale::transport {
namespace {

using outcome = failure_detector::outcome;

constexpr auto first_probe = std::chrono::milliseconds{20};
constexpr auto probe_interval = std::chrono::milliseconds{100};
/// After that long peers that nobody waits for are asked too, one each time.
constexpr auto long_wait = std::chrono::seconds{1};

}  // namespace

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
  if (!std::exchange(w.begun, true)) {
    w.since = now;
    w.next_probe = now + first_probe;
    w.judged = lives_->begin(w.peer);
  }
  // A program that polls waits as long as it goes on to; after the last time nothing here says that it ended.
  const auto until = how == attention::waits ? clock::time_point::max() : now + failure_detector::longest_gap;
  calls_->page().note_wait(w.peer, w.since, until);
}

void watchdog::end(watched_wait& w) noexcept {
  calls_->page().end_wait();
  if (std::exchange(w.surveys, false)) reports_.cancel();
  w.begun = false;
}

clock::duration watchdog::judge(watched_wait& w, clock::time_point now, attention how,
                                const std::function<void()>& look_around) {
  const auto waited = lives_->attend() - w.judged.since;
  w.judged.peer = w.peer;
  w.judged.how = how;
  act_on(lives_->judge(w.judged), w, look_around);
  if (w.surveys && how != attention::passes) w.surveys = !reports_.get_on(w.peer, w.now, w.judged.since);
  if (now >= w.next_probe) {
    w.next_probe = now + probe_interval;
    probe(w, waited);
  }
  return waited;
}

void watchdog::act_on(const failure_detector::verdict& v, watched_wait& w,
                      const std::function<void()>& look_around) {
  switch (v.what) {
    case outcome::go_on:
      return;
    case outcome::dead:
      failures_->lose(v.peer, "its process has ended without a farewell: it was killed, crashed or exited");
    case outcome::left:
      fail_by_leaving(v.peer, w.now);
    case outcome::silent:
      failures_->lose(v.peer, lives_->describe_silence(v.peer));
    case outcome::deadline:
      reports_.fail_by_deadline(w.peer, w.now, look_around);
    case outcome::stalled:
      reports_.begin();
      w.surveys = true;
      return;
  }
}

void watchdog::probe(const watched_wait& w, clock::duration waited) {
  if (w.peer >= 0) {
    asks_->judge_newest(w.peer, w.now);
    if (!lives_->is_gone(w.peer)) {
      asks_->ask(w.peer, w.now);
      user_->probe(w.peer);
    }
  }
  lives_->look_at_some(w.peer);
  for (const int other : lives_->whom_to_ask(w.peer, waited >= long_wait)) asks_->ask(other, w.now);
}

void watchdog::fail_by_leaving(int peer, call_id now) {
  const std::string call = calls_->describe(now.number);
  if (peer < 0)
    throw error(errc::peer_lost,
                fmt::format("all other ranks have left: they destroyed their communicators while rank {} is "
                            "in {}",
                            rank_, call));
  // It may have left after another call than the one in which this rank waits for it.
  asks_->judge_farewell(peer, now);
  failures_->lose(peer,
                  fmt::format("it has left: it destroyed its communicator while this rank is in {}", call));
}

}  // namespace chorale::transport
