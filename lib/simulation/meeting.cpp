// SPDX-License-Identifier: Apache-2.0
#include "meeting.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <chorale/core/attention.hpp>
#include <chorale/core/background.hpp>
#include <chorale/core/error.hpp>

namespace chorale::simulation {

meeting::meeting(scheduler& time, int size, std::string machine)
    : time_(&time),
      machine_(std::move(machine)),
      here_(static_cast<std::size_t>(size)),
      coming_(static_cast<std::size_t>(size)) {}

bootstrap::cards meeting::exchange(int rank, std::span<const std::byte> mine,
                                   std::chrono::milliseconds deadline) {
  const auto refuse_if_alone = [this] {
    if (first_gone_ >= 0)
      throw error(errc::bootstrap_failed,
                  "exchange of a simulation: rank " + std::to_string(first_gone_) + " has ended",
                  {first_gone_});
  };
  refuse_if_alone();
  const auto number = number_;
  const auto place = static_cast<std::size_t>(rank);
  coming_[place].assign(mine.begin(), mine.end());
  // The rank is already present if a later step ran out of memory and the rank retries in this round.
  if (!here_[place]) ++arrived_;
  here_[place] = true;
  if (arrived_ == size()) {
    complete_ = std::exchange(coming_, bootstrap::cards(here_.size()));
    here_.assign(here_.size(), false);
    arrived_ = 0;
    ++number_;
    time_->notify(settled_);
    return complete_;
  }
  const instant end = deadline.count() == 0 ? never : time_->now() + deadline;
  while (number_ == number) {
    refuse_if_alone();
    instant until = end;
    if (background::drives_others()) {
      background::advance_all(attention::passes);
      if (number_ != number) break;
      until = std::min(end, time_->now() + std::chrono::microseconds{1});
    }
    if (!time_->wait(settled_, "the others to make their communicators", until) && number_ == number &&
        until == end) {
      const auto missing = static_cast<int>(std::find(here_.begin(), here_.end(), false) - here_.begin());
      throw error(errc::bootstrap_failed,
                  "exchange of a simulation: " + std::to_string(size() - arrived_) + " of " +
                      std::to_string(size()) + " ranks did not come, rank " + std::to_string(missing) +
                      " among them",
                  {missing});
    }
  }
  return complete_;
}

void meeting::leave(int rank) {
  if (first_gone_ < 0) first_gone_ = rank;
  time_->notify(settled_);
}

}  // namespace chorale::simulation
