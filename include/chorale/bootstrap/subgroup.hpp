// Some of the ranks of a communicator, who are to have one of their own.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include <chorale/bootstrap/concept.hpp>
#include <chorale/core/lean_chrono.hpp>
#include <chorale/core/lean_functional.hpp>

namespace chorale::bootstrap {

/// A group whose cards travel over a communicator that its ranks, and others, already have: `exchange` is a
/// function that exchanges cards within this group, in the order of its ranks.
class subgroup {
 public:
  using exchange_function =
      std::function<cards(std::span<const std::byte> mine, std::chrono::milliseconds deadline)>;

  /// `rank`, `size`: in this group. `job`: a text that no other group has.
  subgroup(int rank, int size, std::string job, std::string description, exchange_function exchange)
      : rank_(rank),
        size_(size),
        job_(std::move(job)),
        description_(std::move(description)),
        exchange_(std::move(exchange)) {}

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] const std::string& job() const noexcept { return job_; }
  [[nodiscard]] const std::string& describe() const noexcept { return description_; }
  cards exchange(std::span<const std::byte> mine, std::chrono::milliseconds deadline) {
    return exchange_(mine, deadline);
  }

 private:
  int rank_;
  int size_;
  std::string job_;
  std::string description_;
  exchange_function exchange_;
};

static_assert(group<subgroup>);

}  // namespace chorale::bootstrap
