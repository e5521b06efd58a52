// The questions behind a stall report.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include <chorale/core/clock.hpp>

#include "repeated_question.hpp"
#include "status_messages.hpp"

namespace chorale::transport {

/// Who has answered what since a rank found that it waits for long. The lowest ranks are asked first: if one
/// of them waits as well, the report is its business, and the other ranks are left alone.
class stall_survey {
 public:
  /// Ranks that are asked first.
  static constexpr int first_asked = 8;

  /// Of `ranks`, asked by `self`; all at once with `all`.
  stall_survey(int ranks, int self, bool all, clock::time_point now);

  void take(int from, const status_answer& answer) { answers_[static_cast<std::size_t>(from)] = answer; }
  [[nodiscard]] const std::vector<std::optional<status_answer>>& answers() const noexcept { return answers_; }
  /// True now and then: `is_asked` says of whom an answer is missing. What is lost is asked again.
  [[nodiscard]] bool is_time_to_ask(clock::time_point now) noexcept { return question_.is_due(now); }
  [[nodiscard]] bool is_asked(int rank) const noexcept;
  /// True if all that were asked have answered or had the time to.
  [[nodiscard]] bool is_answered(clock::time_point now) const noexcept;
  [[nodiscard]] bool asks_all() const noexcept { return all_; }
  void ask_all(clock::time_point now) noexcept;
  /// True if a lower rank that has answered has waited for at least `time`.
  [[nodiscard]] bool is_left_to_lower(std::chrono::milliseconds time) const noexcept;

 private:
  int self_;
  bool all_;
  std::vector<std::optional<status_answer>> answers_;
  repeated_question question_;
  clock::time_point end_;
};

}  // namespace chorale::transport
