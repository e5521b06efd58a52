// When events are to happen: an order of very many, which changes all the time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <chorale/simulation/time.hpp>

namespace chorale::simulation {

/// Names an event that has been added. That of an event that has happened or was cancelled names none.
struct event_id {
  std::uint32_t slot = UINT32_MAX;
  std::uint32_t generation = 0;
};

/// Entries by time, equal instants in their order. A calendar: time is cut into periods, and the entries of
/// one are sorted when its turn comes. One heap of all would be larger than a cache, and each entry would go
/// through its whole depth; here what is touched is one short row, and what comes next is known in advance.
class timetable {
 public:
  struct entry {
    instant when;
    std::uint64_t order;
    event_id what;
    [[nodiscard]] bool before(const entry& other) const noexcept {
      return when != other.when ? when < other.when : order < other.order;
    }
  };

  [[nodiscard]] bool empty() const noexcept {
    return next_ == row_.size() && late_.empty() && in_calendar_ == 0 && far_.empty();
  }
  void add(const entry& one);
  /// Not of an empty one. It may be followed by entries that are earlier.
  [[nodiscard]] const entry& first();
  void take_first();
  /// One that comes about so many after the first, if it is known; null if not.
  [[nodiscard]] const entry* after_first(std::size_t count) const noexcept {
    return next_ + count < row_.size() ? &row_[next_ + count] : nullptr;
  }

 private:
  /// A period has 2^11 ps: of 65,536 ranks some hundred events. The calendar has some microseconds.
  static constexpr int period_bits = 11;
  static constexpr std::size_t periods = 2048;
  static constexpr std::size_t word_bits = 64;

  static std::int64_t period_of(instant when) noexcept {
    return when.time_since_epoch().count() >> period_bits;
  }
  static std::size_t place_of(std::int64_t period) noexcept {
    return static_cast<std::size_t>(period) % periods;
  }
  [[nodiscard]] bool is_first_late() const noexcept {
    return !late_.empty() && (next_ == row_.size() || late_.front().before(row_[next_]));
  }
  void put_down(const entry& one, std::int64_t period);
  void turn_over();
  [[nodiscard]] std::int64_t next_in_calendar() const noexcept;

  std::int64_t period_ = -1;  ///< that of `row_`
  std::vector<entry> row_;    ///< ascending; those before `next_` have been taken
  std::size_t next_ = 0;
  std::vector<entry> late_;                            ///< a heap: added when their period had begun
  std::vector<std::vector<entry>> calendar_{periods};  ///< of the periods behind `period_`, in no order
  std::array<std::uint64_t, periods / word_bits> has_some_{};  ///< a bit for each of them
  std::size_t in_calendar_ = 0;
  std::vector<entry> far_;  ///< a heap: beyond the calendar
};

}  // namespace chorale::simulation
