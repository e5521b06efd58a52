// The slow path of a wait: what a rank does to know that those it waits for are alive.
#include <utility>

#include <chorale/transport/endpoint.hpp>

#include "stall_survey.hpp"

namespace chorale::transport {
namespace {

using outcome = failure_detector::outcome;

constexpr auto first_probe = std::chrono::milliseconds{20};
constexpr auto probe_interval = std::chrono::milliseconds{100};
/// After that long peers that nobody waits for are asked too, one each time.
constexpr auto long_wait = std::chrono::seconds{1};

}  // namespace

void vigil::begin(steady::time_point now) {
  begun_ = true;
  since_ = now;
  next_probe_ = now + first_probe;
  wait_ = owner_->lives_.begin(peer_);
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
    owner_->lives_.look_at_some(peer_);
    for (const int other : owner_->lives_.whom_to_ask(peer_, waited >= long_wait)) owner_->ask(other, now_);
  }
  return waited;
}

void vigil::judge(attention how) {
  wait_.peer = peer_;
  wait_.how = how;
  const auto verdict = owner_->lives_.judge(wait_);
  switch (verdict.what) {
    case outcome::go_on:
      break;
    case outcome::dead:
      owner_->lost(verdict.peer,
                   "its process has ended without a farewell: it was killed, crashed or exited");
    case outcome::left:
      owner_->left(verdict.peer, now_);
    case outcome::silent:
      owner_->lost(verdict.peer, owner_->lives_.describe_silence(verdict.peer));
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

}  // namespace chorale::transport
