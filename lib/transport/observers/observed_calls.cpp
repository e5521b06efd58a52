#include <algorithm>
#include <utility>

#include <chorale/core/system_services.hpp>
#include <chorale/transport/observers/observed_calls.hpp>

#include "first_communicators.hpp"

namespace chorale::transport {

observed_calls::observed_calls(call_record& calls, observed_communicator who,
                               std::function<std::uint64_t()> resent)
    : calls_(&calls), who_(std::move(who)), flow_(system_services::this_flow()), resent_(std::move(resent)) {
  open_.reserve(8);
  first_communicators::all().enter(flow_, who_);  // last, since it can fail and only the destructor undoes it
}

observed_calls::~observed_calls() {
  first_communicators::all().leave(flow_);
  for (const listener& l : all_) l.who->on_ended(who_);
}

void observed_calls::add(std::shared_ptr<observer> one) {
  if (!one) return;
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
  const std::shared_ptr<observer> kept = found->who;
  all_.erase(found);
  if (all_.empty()) {
    calls_->set_observed(false);
    open_.clear();
    first_ = 0;
    waits_since_ = {};
    is_accessing_ = false;
  }
  kept->on_ended(who_);
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
  if (choosers_[static_cast<std::size_t>(what.what)].name == nullptr)
    next.algorithm = algorithm_of(what.what);
  // Last of what may fail: observers see the end of each call that is open.
  observed_call& made = open_.emplace_back(next);
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
  if (by.name != nullptr) made.algorithm = by.name(by.choice);
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
  // For a nonblocking call it was noted when the call was made: later ones may have been made since.
  const chooser& by = choosers_[static_cast<std::size_t>(one.what.what)];
  if (by.name != nullptr && (one.algorithm.empty() || !one.is_nonblocking))
    one.algorithm = by.name(by.choice);
  one.over = now;
  one.failure = failure;
  const std::uint64_t resent = resent_();
  one.resent = resent - std::exchange(resent_before_, resent);
  for (const listener& l : all_)
    if (l.knows(one)) l.who->on_end(one);
  one.failure = nullptr;
  ++first_;
}

void observed_calls::begin_wait() noexcept {
  if (!is_accessing_) waits_since_ = times_.now();
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

clock::time_point observed_calls::begin_access() noexcept {
  is_accessing_ = true;
  return times_.now();
}

void observed_calls::end_access(const observed_event& what) noexcept {
  is_accessing_ = false;
  tell(what);
}

void observed_calls::ask(operation what, const void* choice, std::string_view (*name)(const void*)) noexcept {
  choosers_[static_cast<std::size_t>(what)] = {choice, name};
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
