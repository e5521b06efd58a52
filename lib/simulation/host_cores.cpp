// SPDX-License-Identifier: Apache-2.0
#include "host_cores.hpp"

#include <algorithm>

namespace chorale::simulation {
namespace {

bool has_fewer(const shared_core& a, const shared_core& b) noexcept {
  return a.runnable() < b.runnable();
}

}  // namespace

/// The time from free_ until the first thread in line polls.
duration shared_core::to_first_look() const noexcept {
  return before_ && *before_ != line_.front().who ? costs_.context_switch : duration::zero();
}

/// The time between the polls of two successive threads in line while all polls fail.
duration shared_core::between_looks() const noexcept {
  return costs_.look + (line_.size() > 1 ? costs_.context_switch : duration::zero());
}

/// Accounts for `turns` turns of unsuccessful polls.
void shared_core::pass(std::int64_t turns) {
  if (turns == 0) return;
  free_ += to_first_look() + costs_.look + (turns - 1) * between_looks();
  const auto places = static_cast<std::size_t>(turns) % line_.size();
  std::rotate(line_.begin(), line_.begin() + static_cast<std::ptrdiff_t>(places), line_.end());
  before_ = line_.back().who;
}

/// Accounts for all turns that are over by `now`; the turn of the first thread in line may have begun.
void shared_core::catch_up(instant now) {
  if (holder_ || line_.empty()) return;
  const duration first = to_first_look() + costs_.look;
  if (now >= free_ + first) pass(1 + (now - free_ - first) / between_looks());
}

void shared_core::add(const waiting& who, instant now) {
  catch_up(now);
  if (!holder_ && line_.empty()) free_ = std::max(free_, now);
  line_.push_back(who);
}

void shared_core::give_way(instant now, instant due) {
  line_.push_back({*holder_, due});
  before_ = holder_;
  holder_.reset();
  free_ = now;
}

void shared_core::hurry(thread who, instant due) noexcept {
  const auto found =
      std::find_if(line_.begin(), line_.end(), [who](const waiting& one) { return one.who == who; });
  if (found != line_.end()) found->due = std::min(found->due, due);
}

void shared_core::remove(thread who, instant now) {
  if (holder_ == who) {
    before_ = holder_;
    holder_.reset();
    free_ = now;
    return;
  }
  catch_up(now);
  const auto found =
      std::find_if(line_.begin(), line_.end(), [who](const waiting& one) { return one.who == who; });
  if (found == line_.end()) return;
  // The thread's turn may have begun.
  if (!holder_ && found == line_.begin() && free_ < now) {
    before_ = who;
    free_ = now;
  }
  line_.erase(found);
}

shared_core::waiting shared_core::take_last(instant now) {
  catch_up(now);
  const waiting last = line_.back();
  line_.pop_back();
  return last;
}

std::optional<shared_core::turn> shared_core::next() const noexcept {
  if (holder_) return std::nullopt;
  std::optional<turn> earliest;
  instant look = line_.empty() ? free_ : free_ + to_first_look();
  const duration step = line_.empty() ? duration::zero() : between_looks();
  const duration round = static_cast<std::int64_t>(line_.size()) * step;
  for (const waiting& one : line_) {
    const duration late = std::max(one.due - look, duration::zero());
    const instant when = look + (late + round - duration{1}) / round * round;
    if (!earliest || when < earliest->when) earliest = turn{when, one.who};
    look += step;
  }
  return earliest;
}

void shared_core::begin(const turn& next) {
  const instant look = free_ + to_first_look();
  if (next.when > look) pass((next.when - look) / between_looks());
  holder_ = line_.front().who;
  line_.erase(line_.begin());
}

std::size_t host_cores::add(shared_core::thread who, std::optional<std::size_t> last, instant now) {
  auto chosen = std::min_element(cores_.begin(), cores_.end(), has_fewer);
  if (last && cores_[*last].runnable() == chosen->runnable())
    chosen = cores_.begin() + static_cast<std::ptrdiff_t>(*last);
  chosen->add({who, now}, now);
  return static_cast<std::size_t>(chosen - cores_.begin());
}

std::optional<host_cores::move> host_cores::remove(shared_core::thread who, std::size_t core, instant now) {
  cores_[core].remove(who, now);
  if (cores_[core].runnable() != 0) return std::nullopt;
  const auto fullest = std::max_element(cores_.begin(), cores_.end(), has_fewer);
  if (fullest->runnable() < 2) return std::nullopt;
  const auto moved = fullest->take_last(now);
  cores_[core].add(moved, now);
  return move{moved.who, static_cast<std::size_t>(fullest - cores_.begin()), core};
}

}  // namespace chorale::simulation
