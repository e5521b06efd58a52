// The slow path of a wait: what a rank does to know that those it waits for are alive.
#include <algorithm>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/background.hpp>
#include <chorale/transport/endpoint.hpp>

#include "membership.hpp"
#include "messages.hpp"
#include "stall_survey.hpp"

namespace chorale::transport {
namespace {

using outcome = failure_detector::outcome;

constexpr auto first_probe = std::chrono::milliseconds{20};
constexpr auto probe_interval = std::chrono::milliseconds{100};
/// Peers that nobody waits for are watched too, since the one that is waited for may wait for them: each time
/// so many processes of this host, and, once the wait is a long one, one peer by datagram.
constexpr int processes_at_once = 8;
constexpr auto long_wait = std::chrono::seconds{1};

}  // namespace

void vigil::begin(steady::time_point now) {
  begun_ = true;
  since_ = now;
  next_probe_ = now + first_probe;
  const std::lock_guard hold{owner_->lock_};
  owner_->detector_.look(now);
  wait_ = owner_->detector_.begin(peer_);
}

void vigil::finish() noexcept {
  owner_->status_.end_wait();
  if (std::exchange(surveys_, false)) owner_->survey_.reset();
  begun_ = false;
}

steady::duration vigil::look(attention how) {
  const auto now = steady::now();
  if (!begun_) begin(now);
  // A program that polls waits as long as it goes on to; after the last time nothing here says that it ended.
  owner_->status_.note_wait(
      peer_, since_,
      how == attention::waits ? steady::time_point::max() : now + failure_detector::longest_gap);
  if (owner_->use_.is_disturbed()) [[unlikely]] {
    const auto mine = owner_->status_.find(now_.number);
    owner_->use_.refuse(mine ? mine->what : operation::none);
  }
  owner_->look_around();
  const auto waited = owner_->attend() - wait_.since;
  judge(how);
  if (now >= next_probe_) {
    next_probe_ = now + probe_interval;
    if (peer_ >= 0) {
      auto& answer = owner_->answers_[static_cast<std::size_t>(peer_)];
      if (answer) {
        owner_->judge(peer_, *answer, now_);
        answer.reset();
      }
      if (!owner_->departed(peer_)) {
        owner_->ask(peer_, now_);
        owner_->user_->probe(peer_);
      }
    }
    owner_->watch_all(peer_, now_, waited >= long_wait);
  }
  return waited;
}

void vigil::judge(attention how) {
  wait_.peer = peer_;
  wait_.how = how;
  const auto verdict = [this] {
    const std::lock_guard hold{owner_->lock_};
    return owner_->detector_.judge(wait_);
  }();
  switch (verdict.what) {
    case outcome::go_on:
      break;
    case outcome::dead:
      owner_->lost(verdict.peer,
                   "its process has ended without a farewell: it was killed, crashed or exited");
    case outcome::left:
      owner_->left(verdict.peer, now_);
    case outcome::silent:
      owner_->silent(verdict.peer);
    case outcome::deadline:
      owner_->report_deadline(peer_, now_);
    case outcome::stalled:
      owner_->begin_survey();
      surveys_ = true;
      break;
  }
  if (how == attention::passes || !surveys_ || !owner_->survey_) return;
  owner_->get_on_with_survey(peer_, now_, wait_.since);
  if (!owner_->survey_) surveys_ = false;
}

steady::duration endpoint::attend() {
  const std::lock_guard hold{lock_};
  detector_.look(steady::now());
  return detector_.attended();
}

void endpoint::look_at_process(int peer) {
  const process_identity* process = members_->process_of(peer);
  if (process == nullptr || departed(peer)) return;
  const process_state state = state_of(*process);
  const std::lock_guard hold{lock_};
  if (state == process_state::gone) detector_.die(peer);
  // Who is stopped cannot answer, and is not dead: somebody debugs it, or will let it go on.
  if (state == process_state::stopped) detector_.hear(peer);
}

void endpoint::look_at_processes() {
  for (const int peer : members_->neighbours()) look_at_process(peer);
}

void endpoint::watch_all(int awaited, epoch now, bool asks_others) {
  if (awaited >= 0) look_at_process(awaited);
  const std::vector<int>& neighbours = members_->neighbours();
  for (int i = 0; i < std::min(processes_at_once, static_cast<int>(neighbours.size())); ++i)
    look_at_process(neighbours[turns_.neighbour++ % neighbours.size()]);
  const auto suspects = [this] {
    const std::lock_guard hold{lock_};
    return detector_.suspects();
  }();
  for (const int peer : suspects)
    if (peer != awaited) ask(peer, now);
  if (!asks_others || size_ < 2) return;
  const int next = static_cast<int>(turns_.asked++ % static_cast<unsigned>(size_));
  if (next != rank_ && next != awaited && !departed(next)) ask(next, now);
}

void endpoint::silent(int peer) {
  const auto milliseconds = [](steady::duration d) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
  };
  std::string why = fmt::format(
      "it has given no sign of life for {} ms: neither its service thread nor its adapter answers; "
      "config::silence or CHORALE_SILENCE_MS sets the limit",
      milliseconds(detector_.silence_of(peer)));
  // Where nobody is heard the reason may be on this side.
  int others = 0;
  int also_silent = 0;
  for (int r = 0; r < size_; ++r) {
    if (r == rank_ || r == peer || departed(r)) continue;
    ++others;
    if (detector_.is_silent(r)) ++also_silent;
  }
  if (also_silent > 0) why += fmt::format("; so do {} of {} other ranks", also_silent, others);
  if (const auto refused = refused_datagrams(); refused != 0)
    why += fmt::format("; {} datagrams were refused", refused);
  lost(peer, why);
}

}  // namespace chorale::transport
