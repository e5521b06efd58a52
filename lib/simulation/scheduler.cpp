// SPDX-License-Identifier: Apache-2.0
#include "scheduler.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <chorale/core/background.hpp>
#include <chorale/core/error.hpp>

#include "fiber.hpp"

namespace chorale::simulation {
namespace {

/// A fiber without a `touch` polls again after this fraction of the time for which it has polled.
constexpr int gap_share = 16;
/// The number of events between two progress reports.
constexpr std::uint64_t events_a_report = std::uint64_t{1} << 16;
/// An error names at most this many fibers.
constexpr std::size_t most_named = 64;

std::string text_of(instant when) {
  const auto picoseconds = when.time_since_epoch().count();
  const auto whole = std::to_string(picoseconds / 1'000'000);
  const auto rest = std::to_string(1'000'000 + picoseconds % 1'000'000);
  return whole + '.' + rest.substr(1, 3) + " us";
}

constinit thread_local scheduler* running_scheduler = nullptr;

const char* doing(fiber::state what) noexcept {
  switch (what) {
    case fiber::state::polls:
      return " polls";
    case fiber::state::sleeps:
    case fiber::state::dozes:
      return " sleeps";
    case fiber::state::waits:
      return " waits";
    case fiber::state::ready:
      return " could run";
    case fiber::state::ended:
      return " has ended";
  }
  return "";
}

}  // namespace

scheduler::scheduler(scheduler_options options)
    : options_(std::move(options)),
      clock_(*this),
      stacks_(options_.stack_bytes),
      cores_(queue_, next_, options_.hosts) {
  if (options_.poll <= duration::zero())
    throw error(errc::invalid_argument, "scheduler: a round of polling takes some time");
}

scheduler::~scheduler() {
  for (const auto& f : fibers_) {
    if (f->flow != nullptr) stacks_.give_back(f->flow->memory());
  }
}

fiber& scheduler::spawn(std::string name, int rank, std::function<void()> body) {
  reap();
  const auto place = static_cast<std::size_t>(std::max(rank, 0));
  if (of_rank_.size() <= place) {
    of_rank_.resize(place + 1);
    spawned_.resize(place + 1);
  }
  fiber& born =
      *fibers_.emplace_back(std::make_unique<fiber>(std::move(name), rank, spawned_[place], std::move(body)));
  ++alive_;
  born.owner = this;
  born.flow = std::make_unique<context>(stacks_.take(), &scheduler::begin, &born);
  born.idle_since = now_;
  cores_.adopt(born);
  if (rank >= 0) {
    of_rank_[place].push_back(&born);
    ++spawned_[place];
  }
  resume(born, now_);
  return born;
}

int scheduler::current_rank() const noexcept {
  return current_ == nullptr ? -1 : current_->rank;
}

int scheduler::core_of(int rank) const noexcept {
  const int cores = std::max(options_.hosts.cores, 1);
  if (rank < 0) return -cores;
  const host_layout& all = options_.hosts.ranks;
  const int first = all.host_of(rank) * all.largest();
  const int of_its_own = (first + all.number_of(rank)) * cores;
  if (static_cast<std::size_t>(rank) >= of_rank_.size()) return of_its_own;
  const auto& fibers = of_rank_[static_cast<std::size_t>(rank)];
  if (fibers.empty() || !fibers.front()->place.last) return of_its_own;
  return first * cores + static_cast<int>(*fibers.front()->place.last);
}

std::uint16_t scheduler::current_thread() const noexcept {
  return current_ == nullptr ? std::uint16_t{0} : current_->notes.thread();
}

scheduler* scheduler::running() noexcept {
  return running_scheduler;
}

void scheduler::run() {
  const replaced_clock replaced{clock_};
  const struct running {
    scheduler* before;
    ~running() { running_scheduler = before; }
  } restored{std::exchange(running_scheduler, this)};
  while (alive_ > 0) {
    context& to = next_to_run();
    if (&to != &thread_) thread_.switch_to(to);
    // All fibers have ended, none has a turn pending, or the simulation was stopped.
    if (stopped_) std::rethrow_exception(std::exchange(stopped_, nullptr));
    if (alive_ > 0) end_waits();
  }
  reap();
  if (first_) std::rethrow_exception(std::exchange(first_, nullptr));
}

void scheduler::begin(void* self) noexcept {
  auto& f = *static_cast<fiber*>(self);
  scheduler& all = *f.owner;
  all.run_body(f);
  f.flow->leave_for(all.next_to_run());
}

void scheduler::run_body(fiber& self) noexcept {
  try {
    self.body();
  } catch (...) {
    if (!first_) first_ = std::current_exception();
  }
  // Destroys the body's captures on the fiber's own stack, and at the fiber's own time.
  self.body = nullptr;
  if (options_.record != nullptr) self.notes.end_wait(*options_.record, now_);
  self.now = fiber::state::ended;
  --alive_;
  ended_.push_back(&self);
  if (self.rank >= 0) std::erase(of_rank_[static_cast<std::size_t>(self.rank)], &self);
  cores_.leave(self, now_);
  notify(self.end);
}

/// The fiber continues at `when`, or at its own time if that is later; an earlier plan for it is cancelled.
void scheduler::resume(fiber& who, instant when) {
  if (who.now == fiber::state::ended) return;
  queue_.cancel(who.turn);
  who.turn = queue_.add(std::max(when, who.time), [this, to = &who] {
    if (to->stopped_until > now_)
      resume(*to, to->stopped_until);
    else if (to->place.of == nullptr || core_turns::has_core(*to))
      next_ = to;
    else
      cores_.compete(*to, now_);
  });
}

void scheduler::kill(int rank) {
  if (rank < 0 || static_cast<std::size_t>(rank) >= of_rank_.size()) return;
  for (fiber* const f : of_rank_[static_cast<std::size_t>(rank)]) {
    queue_.cancel(f->turn);
    cores_.leave(*f, now_);
    f->now = fiber::state::ended;
    --alive_;
  }
  of_rank_[static_cast<std::size_t>(rank)].clear();
}

void scheduler::stop(int rank, instant until) {
  if (rank < 0 || static_cast<std::size_t>(rank) >= of_rank_.size()) return;
  for (fiber* const f : of_rank_[static_cast<std::size_t>(rank)]) {
    f->stopped_until = std::max(f->stopped_until, until);
    const bool in_line = f->place.can_run && !core_turns::has_core(*f);
    cores_.leave(*f, now_);
    // A queued fiber had no event of its own to resume it.
    if (in_line) resume(*f, f->stopped_until);
  }
}

/// Suspends the running fiber; returns when it is resumed.
void scheduler::suspend() {
  fiber& self = *current_;
  self.time = now_;
  self.notes.suspends();
  context& to = next_to_run();
  if (&to != self.flow.get()) self.flow->switch_to(to);
  self.now = fiber::state::ready;
}

/// The same, and other fibers may use its core meanwhile.
void scheduler::suspend_without_core() {
  cores_.leave(*current_, now_);
  suspend();
}

/// Runs events, on the caller's stack, until one of them resumes a fiber.
context& scheduler::next_to_run() {
  current_ = nullptr;
  while (next_ == nullptr && !stopped_ && alive_ > 0 && !queue_.empty()) {
    try {
      if (const instant first = queue_.first(); first <= options_.end)
        now_ = settled_ = first;
      else
        throw error(errc::deadline, "the simulation was to end at " + text_of(options_.end) +
                                        " of virtual time; " + who_waits());
      if (++events_ % events_a_report == 0 && options_.progress) options_.progress(now_, events_);
      comes_ = {};
      queue_.happen();
    } catch (...) {
      stopped_ = std::current_exception();
    }
  }
  if (stopped_) next_ = nullptr;
  current_ = std::exchange(next_, nullptr);
  background::replace(current_ == nullptr ? nullptr : &current_->works);
  return current_ == nullptr ? thread_ : *current_->flow;
}

void scheduler::settle(duration tolerance) {
  if (current_ == nullptr || now_ - settled_ <= tolerance || queue_.empty() || queue_.first() > now_) return;
  const instant since = now_;
  resume(*current_, now_);
  suspend();
  note_wait(since);
}

void scheduler::sleep_until(instant when) {
  if (current_ == nullptr) return;
  const instant since = now_;
  current_->now = fiber::state::sleeps;
  resume(*current_, std::max(when, now_));
  suspend_without_core();
  note_wait(since);
}

void scheduler::give_way() {
  if (current_ == nullptr) return;
  fiber& self = *current_;
  // A fiber that has computed since its last turn has not been idle.
  if (now_ != self.time || std::exchange(self.touched, false)) self.idle_since = now_;
  const instant since = now_;
  now_ += options_.poll;
  self.now = fiber::state::polls;
  self.polls_since = now_;
  // A whole number of rounds, so that each poll comes at an instant at which it would come without gaps.
  const auto gap =
      std::clamp((now_ - self.idle_since) / gap_share, options_.shortest_gap, options_.longest_gap);
  const instant due = now_ + gap / options_.poll * options_.poll;
  if (self.place.of == nullptr)
    resume(self, due);
  else
    cores_.give_way(self, now_, due);
  suspend();
  // The next poll fetches each cache line that has changed while other fibers had the core.
  now_ += std::exchange(self.place.notices, duration::zero());
  self.time = now_;
  note_wait(since);
}

void scheduler::touch(int rank, duration notice) {
  if (rank < 0 || static_cast<std::size_t>(rank) >= of_rank_.size()) return;
  for (fiber* const f : of_rank_[static_cast<std::size_t>(rank)]) {
    f->touched = true;
    f->notes.touched(comes_);
    if (f->place.of != nullptr) {
      if (f->now != fiber::state::polls) continue;
      f->place.notices += notice;
      cores_.hurry(*f, now_);
      continue;
    }
    if (f->now != fiber::state::polls) continue;
    f->now = fiber::state::ready;
    const duration waited = std::max(now_ + notice - f->polls_since, duration::zero());
    const auto rounds = (waited + options_.poll - duration{1}) / options_.poll;
    resume(*f, f->polls_since + rounds * options_.poll);
  }
}

void scheduler::sleep_until_signal(instant end) {
  if (current_ == nullptr) return;
  fiber& self = *current_;
  if (!self.signalled) {
    const instant since = now_;
    self.now = fiber::state::dozes;
    resume(self, std::max(end, now_));
    suspend_without_core();
    note_wait(since);
  }
  self.signalled = false;
}

void scheduler::signal(int rank) {
  if (rank < 0 || static_cast<std::size_t>(rank) >= of_rank_.size()) return;
  for (fiber* const f : of_rank_[static_cast<std::size_t>(rank)]) {
    f->signalled = true;
    f->notes.touched(comes_);
    if (f->now != fiber::state::dozes) continue;
    f->now = fiber::state::ready;
    resume(*f, now_ + options_.wake);
  }
}

bool scheduler::wait(wait_list& list, const char* what, instant end) {
  if (current_ == nullptr)
    throw error(errc::misuse, std::string{"an event of a simulation waits for "} + what);
  fiber& self = *current_;
  const instant since = now_;
  self.now = fiber::state::waits;
  self.waits_for = what;
  self.notified = false;
  list.waiting_.push_back(&self);
  if (end != never) resume(self, std::max(end, now_));
  suspend_without_core();
  note_wait(since);
  if (self.notified) return true;
  std::erase(list.waiting_, &self);
  if (end == never) throw error(errc::deadline, deadlock_);
  return false;
}

void scheduler::notify(wait_list& list) {
  for (fiber* const f : list.waiting_) {
    f->notified = true;
    f->notes.touched(comes_);
    resume(*f, now_);
  }
  list.waiting_.clear();
}

void scheduler::join(fiber& other) {
  while (other.now != fiber::state::ended) wait(other.end, "the end of a fiber");
}

void scheduler::note_work(const record& what, duration time) noexcept {
  current_->notes.works(*options_.record, what, now_, time);
}

void scheduler::note_wait(instant since) noexcept {
  if (options_.record != nullptr) current_->notes.goes_on(*options_.record, since, now_);
}

/// No fiber can run: each waiting fiber continues without what it waits for, and gets an error.
void scheduler::end_waits() {
  deadlock_ = "no rank can continue: " + who_waits();
  for (const auto& f : fibers_) {
    if (f->now == fiber::state::waits) resume(*f, now_);
  }
}

/// Gives back the stacks of ended fibers.
void scheduler::reap() {
  for (fiber* const f : ended_) {
    stacks_.give_back(f->flow->memory());
    f->flow = nullptr;
  }
  ended_.clear();
}

/// All fibers that have not ended, with what they wait for.
std::string scheduler::who_waits() const {
  std::string all = "at " + text_of(now_) + " of virtual time";
  std::size_t named = 0;
  const char* before = " ";
  for (const auto& f : fibers_) {
    if (f->now == fiber::state::ended) continue;
    if (named++ == most_named) break;
    all += before + f->name;
    before = ", ";
    all += f->now == fiber::state::waits ? std::string{" waits for "} + f->waits_for : doing(f->now);
  }
  if (alive_ > most_named) all += ", and " + std::to_string(alive_ - most_named) + " more";
  return all;
}

void scheduler::refuse_past(instant when) const {
  throw error(errc::misuse,
              "an event of a simulation at " + text_of(when) + ", which is before " + text_of(now_));
}

}  // namespace chorale::simulation
