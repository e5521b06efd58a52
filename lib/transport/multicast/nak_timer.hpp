// When a rank that waits for a multicast asks its sender for it.
#pragma once

#include <cstdint>

#include <chorale/core/clock.hpp>

namespace chorale::transport {

/// A rank waits for longer than is usual, the mean of its waits so far and four mean deviations, before it
/// sends a NAK, and for longer before each further one: most waits are long because others are late. To both
/// it adds a random time, so that of many ranks that miss one multicast most hear the repair before they have
/// asked. Times in, decisions out: no clock. Not thread-safe.
class nak_timer {
 public:
  using time_point = clock::time_point;
  struct awaited {
    int from = -1;
    bool is_message = false;
    std::uint64_t what = 0;  ///< signal word or sequence number
    friend bool operator==(const awaited&, const awaited&) = default;
  };

  /// `patience`: shortest time until the first NAK. `seed`: another one on each rank.
  nak_timer(int ranks, clock::duration patience, std::uint64_t seed) noexcept
      : ranks_(ranks), least_(patience), noise_(seed) {}

  /// The rank waits for this and nothing else; no news if it did so before. Time runs from the next `asks`.
  void expect(const awaited& what) noexcept {
    if (what_ == what) return;
    what_ = what;
    since_ = due_ = {};
    asked_ = 0;
    overtaken_ = false;
  }
  [[nodiscard]] bool is_waiting() const noexcept { return what_.from >= 0; }
  [[nodiscard]] const awaited& what() const noexcept { return what_; }
  /// True if it matters to `end` when that is.
  [[nodiscard]] bool is_timed() const noexcept { return since_ != time_point{}; }
  /// The rank has what it waited for.
  void end(time_point now) noexcept;

  /// True if a NAK is due, which the caller sends: the next one will be due later. `overtaken`: something
  /// later of the same sender is here already. `heard`: this rank has heard any multicast at all.
  [[nodiscard]] bool asks(time_point now, bool overtaken, bool heard) noexcept;

 private:
  [[nodiscard]] clock::duration patience() const noexcept;  ///< until the first NAK
  [[nodiscard]] clock::duration pause() const noexcept;     ///< until the next
  [[nodiscard]] clock::duration spread(clock::duration over) noexcept;

  int ranks_;
  clock::duration least_;
  std::uint64_t noise_;
  awaited what_;
  time_point since_{};
  time_point due_{};
  unsigned asked_ = 0;
  bool overtaken_ = false;
  double usual_wait_ = 0;  ///< nanoseconds; smoothed, with its mean deviation
  double deviation_ = 0;
  bool waits_known_ = false;
};

}  // namespace chorale::transport
