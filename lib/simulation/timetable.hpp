// SPDX-License-Identifier: Apache-2.0
// A priority queue for very many events, with frequent insertions and removals.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <chorale/simulation/time.hpp>

namespace chorale::simulation {

/// Entries ordered by time, those of equal instants in order of insertion; `What` is the content of an entry.
/// A hierarchy of calendars: time is cut into periods, and the entries of a period are sorted when it begins.
/// Entries further away are kept in coarser periods, and move down a level when their period begins. A single
/// heap would be larger than a cache, and each entry would pass through its whole depth; here only one short
/// row is touched, and the next entries are known in advance.
template <class What>
class timetable {
 public:
  struct entry {
    instant when;
    std::uint64_t order;
    What what;
    [[nodiscard]] bool before(const entry& other) const noexcept {
      return when != other.when ? when < other.when : order < other.order;
    }
  };

  [[nodiscard]] bool empty() const noexcept {
    if (next_ != row_.size() || !late_.empty()) return false;
    return std::all_of(calendars_.begin(), calendars_.end(),
                       [](const calendar& one) { return one.count() == 0; });
  }
  void add(const entry& one) {
    if (period_of(one.when) > period_) return put_down(one);
    late_.push_back(one);
    std::push_heap(late_.begin(), late_.end(), after);
  }
  /// The first entry. Precondition: not empty. Earlier entries may be added afterwards.
  [[nodiscard]] const entry& first() {
    if (next_ == row_.size() && late_.empty()) turn_over();
    return is_first_late() ? late_.front() : row_[next_];
  }
  void take_first() {
    if (next_ == row_.size() && late_.empty()) turn_over();
    if (!is_first_late()) {
      ++next_;
      return;
    }
    std::pop_heap(late_.begin(), late_.end(), after);
    late_.pop_back();
  }
  /// An entry about `count` places behind the first, if it is known; null if not.
  [[nodiscard]] const entry* after_first(std::size_t count) const noexcept {
    return next_ + count < row_.size() ? &row_[next_ + count] : nullptr;
  }

 private:
  using row = std::vector<entry>;

  /// A period has 2^11 ps: some hundred events of 65,536 ranks. A calendar has 2^11 periods, some
  /// microseconds, and is one period of the next calendar.
  static constexpr int period_bits = 11;
  static constexpr int digit_bits = 11;
  static constexpr std::size_t digits = std::size_t{1} << digit_bits;
  /// The number of calendars that cover all instants.
  static constexpr std::size_t levels = (63 - period_bits + digit_bits - 1) / digit_bits;

  /// Rows, each for one value of a digit of the period, without order within a row.
  class calendar {
   public:
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    void add(std::size_t digit, const entry& one) {
      if (rows_.empty()) rows_.resize(digits);
      rows_[digit].push_back(one);
      has_some_[digit / word_bits] |= std::uint64_t{1} << digit % word_bits;
      ++count_;
    }
    /// The first digit with a row that is not empty. Precondition: there is one.
    [[nodiscard]] std::size_t first() const noexcept {
      std::size_t word = 0;
      while (has_some_[word] == 0) ++word;
      return word * word_bits + static_cast<std::size_t>(std::countr_zero(has_some_[word]));
    }
    /// Exchanges the row of `digit` for `empty`.
    void take(std::size_t digit, row& empty) noexcept {
      rows_[digit].swap(empty);
      count_ -= empty.size();
      has_some_[digit / word_bits] &= ~(std::uint64_t{1} << digit % word_bits);
    }

   private:
    static constexpr std::size_t word_bits = 64;

    std::vector<row> rows_;
    std::array<std::uint64_t, digits / word_bits> has_some_{};  ///< a bit for each row
    std::size_t count_ = 0;
  };

  /// For the heaps of the standard library, which put the greatest element first.
  static constexpr auto after = [](const entry& a, const entry& b) { return b.before(a); };

  static std::int64_t period_of(instant when) noexcept {
    return when.time_since_epoch().count() >> period_bits;
  }
  [[nodiscard]] bool is_first_late() const noexcept {
    return !late_.empty() && (next_ == row_.size() || late_.front().before(row_[next_]));
  }
  /// Puts an entry of a later period into the calendar of the highest digit in which its period differs from
  /// the current one.
  void put_down(const entry& one) {
    const auto period = static_cast<std::uint64_t>(period_of(one.when));
    const auto differs = std::bit_width(period ^ static_cast<std::uint64_t>(period_)) - 1;
    const auto level = static_cast<std::size_t>(differs) / digit_bits;
    calendars_[level].add(period >> level * digit_bits & (digits - 1), one);
  }
  /// Advances to the next period that has entries. All entries of one calendar are earlier than those of the
  /// next.
  void turn_over() {
    row_.clear();
    next_ = 0;
    while (row_.empty()) {
      std::size_t level = 0;
      while (calendars_[level].count() == 0) ++level;
      const auto digit = calendars_[level].first();
      // Sets this digit, and the lower ones to zero.
      const auto shift = static_cast<int>(level) * digit_bits;
      period_ = (period_ >> (shift + digit_bits) << digit_bits | static_cast<std::int64_t>(digit)) << shift;
      if (level == 0) {
        calendars_[level].take(digit, row_);
        break;
      }
      row further;
      calendars_[level].take(digit, further);
      for (const entry& one : further) {
        if (period_of(one.when) == period_)
          row_.push_back(one);
        else
          put_down(one);
      }
    }
    std::sort(row_.begin(), row_.end(), [](const entry& a, const entry& b) { return a.before(b); });
  }

  std::int64_t period_ = 0;  ///< that of `row_`
  row row_;                  ///< ascending; entries before `next_` have been taken
  std::size_t next_ = 0;
  row late_;  ///< a heap of the entries that were added to a period that had already begun
  std::array<calendar, levels> calendars_;
};

}  // namespace chorale::simulation
