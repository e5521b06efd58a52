#include "timetable.hpp"

#include <algorithm>
#include <bit>

namespace chorale::simulation {
namespace {

using entry = timetable::entry;

/// Of a heap of the standard library, whose greatest comes first.
constexpr auto after = [](const entry& a, const entry& b) { return b.before(a); };

void push(std::vector<entry>& heap, const entry& one) {
  heap.push_back(one);
  std::push_heap(heap.begin(), heap.end(), after);
}

void pop(std::vector<entry>& heap) {
  std::pop_heap(heap.begin(), heap.end(), after);
  heap.pop_back();
}

}  // namespace

void timetable::add(const entry& one) {
  const auto period = period_of(one.when);
  if (period <= period_)
    push(late_, one);
  else if (period - period_ < static_cast<std::int64_t>(periods))
    put_down(one, period);
  else
    push(far_, one);
}

const entry& timetable::first() {
  if (next_ == row_.size() && late_.empty()) turn_over();
  return is_first_late() ? late_.front() : row_[next_];
}

void timetable::take_first() {
  if (next_ == row_.size() && late_.empty()) turn_over();
  if (is_first_late())
    pop(late_);
  else
    ++next_;
}

void timetable::put_down(const entry& one, std::int64_t period) {
  const auto place = place_of(period);
  calendar_[place].push_back(one);
  has_some_[place / word_bits] |= std::uint64_t{1} << place % word_bits;
  ++in_calendar_;
}

/// To the next period that has entries. All in `far_` are behind those of the calendar, before and after.
void timetable::turn_over() {
  period_ = in_calendar_ > 0 ? next_in_calendar() : period_of(far_.front().when);
  while (!far_.empty() && period_of(far_.front().when) - period_ < static_cast<std::int64_t>(periods)) {
    put_down(far_.front(), period_of(far_.front().when));
    pop(far_);
  }
  const auto place = place_of(period_);
  row_.clear();
  row_.swap(calendar_[place]);
  next_ = 0;
  in_calendar_ -= row_.size();
  has_some_[place / word_bits] &= ~(std::uint64_t{1} << place % word_bits);
  std::sort(row_.begin(), row_.end(), [](const entry& a, const entry& b) { return a.before(b); });
}

/// Of a calendar that has some.
std::int64_t timetable::next_in_calendar() const noexcept {
  const auto begin = place_of(period_ + 1);
  auto word = begin / word_bits;
  auto bits = has_some_[word] >> begin % word_bits << begin % word_bits;
  while (bits == 0) {
    word = (word + 1) % has_some_.size();
    bits = has_some_[word];
  }
  const auto found = word * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
  return period_ + 1 + static_cast<std::int64_t>((found + periods - begin) % periods);
}

}  // namespace chorale::simulation
