// SPDX-License-Identifier: Apache-2.0
// The survey behind a stall report.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include <chorale/core/clock.hpp>

#include "../status/status_messages.hpp"
#include "questions.hpp"

namespace chorale::transport {

/// The answers of other ranks since this rank noticed a long wait of its own. The lowest ranks are asked
/// first: if one of them waits as well, it makes the report, and the remaining ranks are not asked.
class stall_survey {
 public:
  /// Number of ranks asked first.
  static constexpr int first_asked = 8;

  /// A survey of `ranks` ranks by `self`; with `all`, asks all at once.
  stall_survey(int ranks, int self, bool all, clock::time_point now);

  void take(int from, const status_answer& answer) { answers_[static_cast<std::size_t>(from)] = answer; }
  [[nodiscard]] const std::vector<std::optional<status_answer>>& answers() const noexcept { return answers_; }
  /// True if it is time to ask the ranks that `is_asked` names, whose answers are missing; repeatedly, since
  /// questions may be lost.
  [[nodiscard]] bool is_time_to_ask(clock::time_point now) noexcept { return question_.is_due(now); }
  [[nodiscard]] bool is_asked(int rank) const noexcept;
  /// True if all asked ranks have answered, or the time for answers is over.
  [[nodiscard]] bool is_answered(clock::time_point now) const noexcept;
  [[nodiscard]] bool asks_all() const noexcept { return all_; }
  void ask_all(clock::time_point now) noexcept;
  /// True if a lower rank has answered that it has waited for at least `time`.
  [[nodiscard]] bool is_left_to_lower(std::chrono::milliseconds time) const noexcept;

 private:
  int self_;
  bool all_;
  std::vector<std::optional<status_answer>> answers_;
  repeated_question question_;
  clock::time_point end_;
};

}  // namespace chorale::transport
