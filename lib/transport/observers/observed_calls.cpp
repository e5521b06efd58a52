// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

#include <chorale/core/call.hpp>
#include <chorale/core/system_services.hpp>
#include <chorale/transport/observers/observed_calls.hpp>

#include "../../core/immortal.hpp"

namespace chorale::transport {
namespace {

std::uint32_t key_of(const observed_event& access) noexcept {
  const auto kind = static_cast<std::uint64_t>(access.what) << 32 | static_cast<std::uint32_t>(access.peer);
  return static_cast<std::uint32_t>(detail::mix(detail::mix(kind + 1) ^ access.bytes) >> 8);
}

/// Records the first communicator of each thread, or fiber of a simulation: communicators split from it
/// renumber the ranks and have other job numbers, so that only the first identifies the ranks. Once a thread
/// has no communicator left, its next one is the first. Thread-safe.
class first_communicators {
 public:
  [[nodiscard]] static first_communicators& all();

  /// The thread `flow` makes communicator `who`: sets its home and job.
  void enter(const void* flow, observed_communicator& who);
  void leave(const void* flow) noexcept;

 private:
  struct home {
    int rank = 0;
    std::uint32_t job = 0;
    std::size_t communicators = 0;
  };

  std::mutex mutex_;
  std::map<const void*, home> by_flow_;
};

first_communicators& first_communicators::all() {
  static detail::immortal<first_communicators> of_process;
  return *of_process;
}

void first_communicators::enter(const void* flow, observed_communicator& who) {
  const std::lock_guard hold{mutex_};
  home& mine = by_flow_.try_emplace(flow, home{who.rank, who.job, 0}).first->second;
  ++mine.communicators;
  who.home = mine.rank;
  who.job = mine.job;
}

void first_communicators::leave(const void* flow) noexcept {
  const std::lock_guard hold{mutex_};
  const auto mine = by_flow_.find(flow);
  if (mine != by_flow_.end() && --mine->second.communicators == 0) by_flow_.erase(mine);
}

}  // namespace

observed_calls::observed_calls(call_record& calls, observed_communicator who, clock::duration sampling,
                               std::function<std::uint64_t()> resent)
    : calls_(&calls),
      who_(std::move(who)),
      flow_(system_services::this_flow()),
      resent_(std::move(resent)),
      sampling_(sampling) {
  open_.reserve(8);
  first_communicators::all().enter(flow_, who_);  // last, since it can fail and only the destructor undoes it
}

observed_calls::~observed_calls() {
  first_communicators::all().leave(flow_);
  report_passed();
  for (const listener& l : all_) l.who->on_ended(who_);
}

void observed_calls::add(std::shared_ptr<observer> one) {
  if (!one) return;
  report_passed();
  all_.push_back({std::move(one), calls_->next()});
  all_.back().who->on_made(who_);
  if (all_.size() > 1) return;
  resent_before_ = resent_();
  calls_->set_observed(true);
}

void observed_calls::rename(const std::string& name) {
  who_.name = name;
}

void observed_calls::remove(const std::shared_ptr<observer>& one) noexcept {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const listener& l) { return l.who == one; });
  if (found == all_.end()) return;
  report_passed();
  const std::shared_ptr<observer> kept = found->who;
  all_.erase(found);
  if (all_.empty()) {
    calls_->set_observed(false);
    calls_->set_observed_call(false);
    open_.clear();
    first_ = 0;
    waits_since_ = {};
    window_.is_open = false;
    window_.since = {};
  }
  kept->on_ended(who_);
}

bool observed_calls::is_sampled() const noexcept {
  // In simulated time observing costs nothing.
  return sampling_ != clock::duration::zero() && !clock::is_replaced() &&
         std::ranges::none_of(all_, [](const listener& l) { return l.who->wants_all(); });
}

void observed_calls::tell_passed(const observed_call& last, std::uint64_t calls) const noexcept {
  for (const listener& l : all_) l.who->on_passed(last, calls);
}

void observed_calls::tell_passed(const observed_event& last, std::uint64_t events) const noexcept {
  for (const listener& l : all_) l.who->on_passed_events(last, events);
}

void observed_calls::report_passed() noexcept {
  const auto tell = [this](const auto& last, std::uint64_t times) { tell_passed(last, times); };
  kinds_.report_all(tell);
  window_.kinds.report_all(tell);
}

bool observed_calls::catch_up(call_id now) noexcept {
  // Only a blocking call that had observers when it began can have been passed, and a wait outside of calls
  // belongs to none.
  if (now.parks() || now.number != calls_->under_way() || first_ != open_.size() || all_.empty() ||
      now.number < all_.front().since)
    return false;
  const auto what = calls_->page().find(now.number);
  if (!what) return false;
  kinds_.take_back(now.signature);
  open_.clear();
  first_ = 0;
  observed_call& made = open_.emplace_back();  // there is room, reserved at construction
  made.on = &who_;
  made.number = now.number;
  made.what = *what;
  made.algorithm = names_[static_cast<std::size_t>(what->what)];
  calls_->set_observed_call(true);
  made.begun = made.run = times_.now();
  for (const listener& l : all_) l.who->on_begin(made);
  for (const listener& l : all_) l.who->on_run(made);
  return true;
}

void observed_calls::begin(std::uint64_t number, const call& what, bool is_nonblocking) {
  if (first_ == open_.size()) {
    open_.clear();
    first_ = 0;
  } else if (first_ > 64 && first_ > open_.size() / 2) {
    open_.erase(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  observed_call next;
  next.on = &who_;
  next.number = number;
  next.what = what;
  next.is_nonblocking = is_nonblocking;
  if (choosers_[static_cast<std::size_t>(what.what)].last == nullptr)
    next.algorithm = algorithm_of(what.what);
  // The last step that may fail, since observers must see the end of each open call.
  observed_call& made = open_.emplace_back(next);
  calls_->set_observed_call(true);
  made.begun = times_.now();
  if (!is_nonblocking) made.run = made.begun;
  for (const listener& l : all_) l.who->on_begin(made);
  if (is_nonblocking) return;
  for (const listener& l : all_) l.who->on_run(made);
}

void observed_calls::note_algorithm() noexcept {
  if (first_ == open_.size()) return;
  observed_call& made = open_.back();
  const chooser& by = choosers_[static_cast<std::size_t>(made.what.what)];
  if (by.last != nullptr) made.algorithm = by.last(by.choice).name;
}

void observed_calls::run(std::uint64_t number) noexcept {
  observed_call* const one = find(number);
  if (one == nullptr) return;
  one->run = times_.now();
  for (const listener& l : all_)
    if (l.knows(*one)) l.who->on_run(*one);
}

void observed_calls::end(std::uint64_t number, const std::exception_ptr& failure) noexcept {
  if (find(number) == nullptr) return;
  const auto now = times_.now();
  while (open_[first_].number != number) end_first(failure, now);
  end_first(failure, now);
}

void observed_calls::end_all(const std::exception_ptr& failure) noexcept {
  const auto now = times_.now();
  while (first_ != open_.size()) end_first(failure, now);
}

void observed_calls::end_first(const std::exception_ptr& failure, clock::time_point now) noexcept {
  if (waits_since_ != clock::time_point{}) end_wait(open_[first_].number, -1);
  observed_call& one = open_[first_];
  // For a nonblocking call the choice was noted when the call was made: later calls may have been made since.
  const chooser& by = choosers_[static_cast<std::size_t>(one.what.what)];
  const auto chosen =
      by.last != nullptr ? by.last(by.choice) : model::last_choice{.name = one.algorithm, .is_settled = true};
  if (one.algorithm.empty() || !one.is_nonblocking) one.algorithm = chosen.name;
  one.over = now;
  one.failure = failure;
  const std::uint64_t resent = resent_();
  one.resent = resent - std::exchange(resent_before_, resent);
  const std::uint32_t signature = one.what.signature();
  kinds_.report(signature, [this](const auto& last, std::uint64_t calls) { tell_passed(last, calls); });
  for (const listener& l : all_)
    if (l.knows(one)) l.who->on_end(one);
  const bool is_alike = chosen.is_settled && !one.is_nonblocking && !one.failure && one.resent == 0;
  one.failure = nullptr;
  if (is_sampled()) kinds_.note(signature, one, one.over - one.begun, sampling_, is_alike);
  calls_->set_observed_call(++first_ != open_.size());
}

bool observed_calls::begin_wait() noexcept {
  if (window_.is_open) return false;
  waits_since_ = times_.now();
  return true;
}

bool observed_calls::begin_long_wait(call_id now) noexcept {
  if (!window_.is_open) return catch_up(now) && begin_wait();
  if (window_.since != clock::time_point{}) return false;
  window_.kinds.take_back(window_.key);
  window_.since = times_.now();
  return false;
}

void observed_calls::end_wait(std::uint64_t number, int peer) noexcept {
  const auto since = std::exchange(waits_since_, clock::time_point{});
  observed_call* const call = find(number);
  if (since == clock::time_point{} || call == nullptr) return;
  observed_call& in = *call;
  const observed_wait over{&in, peer, since, times_.now()};
  in.waited += over.end - over.begin;
  for (const listener& l : all_)
    if (l.knows(in)) l.who->on_wait(over);
}

void observed_calls::tell(observed_event what) noexcept {
  what.on = &who_;
  what.time = times_.now();
  for (const listener& l : all_) l.who->on_event(what);
}

void observed_calls::begin_access(const observed_event& what) noexcept {
  window_.is_open = true;
  window_.key = key_of(what);
  window_.since = window_.kinds.passes(window_.key) ? clock::time_point{} : times_.now();
}

void observed_calls::end_access(observed_event what) noexcept {
  window_.is_open = false;
  what.begin = std::exchange(window_.since, clock::time_point{});
  if (what.begin == clock::time_point{}) return;
  what.on = &who_;
  what.time = times_.now();
  window_.kinds.report(window_.key,
                       [this](const auto& last, std::uint64_t events) { tell_passed(last, events); });
  for (const listener& l : all_) l.who->on_event(what);
  if (is_sampled()) window_.kinds.note(window_.key, what, what.time - what.begin, sampling_, true);
}

void observed_calls::ask(operation what, const void* choice,
                         model::last_choice (*last)(const void*)) noexcept {
  choosers_[static_cast<std::size_t>(what)] = {choice, last};
}

std::string_view observed_calls::algorithm_of(operation what) {
  std::string& name = names_[static_cast<std::size_t>(what)];
  if (name.empty()) name = calls_->algorithm_of(what);
  return name;
}

observed_call* observed_calls::find(std::uint64_t number) noexcept {
  for (std::size_t i = first_; i < open_.size() && open_[i].number <= number; ++i) {
    if (open_[i].number == number) return &open_[i];
  }
  return nullptr;
}

}  // namespace chorale::transport
