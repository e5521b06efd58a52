// SPDX-License-Identifier: Apache-2.0
#include "stall_survey.hpp"

#include <algorithm>

namespace chorale::transport {
namespace {

/// Time for ranks to answer; on a loaded machine, late ones are reported as silent.
constexpr auto answer_time = std::chrono::milliseconds{500};

}  // namespace

stall_survey::stall_survey(int ranks, int self, bool all, clock::time_point now)
    : self_(self), all_(all), answers_(static_cast<std::size_t>(ranks)), end_(now + answer_time) {}

bool stall_survey::is_asked(int rank) const noexcept {
  return rank != self_ && (all_ || rank < std::min(first_asked, self_)) &&
         !answers_[static_cast<std::size_t>(rank)];
}

bool stall_survey::is_answered(clock::time_point now) const noexcept {
  if (now >= end_) return true;
  for (int r = 0; r < static_cast<int>(answers_.size()); ++r)
    if (is_asked(r)) return false;
  return true;
}

void stall_survey::ask_all(clock::time_point now) noexcept {
  all_ = true;
  question_.restart();
  end_ = now + answer_time;
}

bool stall_survey::is_left_to_lower(std::chrono::milliseconds time) const noexcept {
  return std::any_of(answers_.begin(), answers_.begin() + self_, [&](const auto& answer) {
    return answer && answer->waits_for != status_page::for_none && answer->waited_ms >= time.count();
  });
}

}  // namespace chorale::transport
