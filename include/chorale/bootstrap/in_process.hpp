// Ranks that are threads of one process, for tests and for teaching.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <chorale/bootstrap/concept.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/timed_wait.hpp>

namespace chorale::bootstrap {

/// The meeting place of the threads of one group. Thread-safe.
class in_process_hub {
 public:
  explicit in_process_hub(int size)
      : size_(size), here_(static_cast<std::size_t>(size), false), cards_(static_cast<std::size_t>(size)) {}
  [[nodiscard]] int size() const noexcept { return size_; }

  /// Waits for all ranks as long as none of them has ended, and says on standard error who is missing after
  /// a minute, and again in doubled intervals. `deadline` zero: without a limit.
  cards exchange(int rank, std::span<const std::byte> mine, std::chrono::milliseconds deadline) {
    std::unique_lock lock{mutex_};
    const auto round = round_;
    const auto place = static_cast<std::size_t>(rank);
    cards_[place].assign(mine.begin(), mine.end());
    // It is here already if what follows failed for want of memory, and it says so in this round.
    if (!here_[place]) ++arrived_;
    here_[place] = true;
    if (arrived_ == size_) {
      complete_ = std::exchange(cards_, cards(static_cast<std::size_t>(size_)));
      here_.assign(here_.size(), false);
      arrived_ = 0;
      ++round_;
      changed_.notify_all();
      return complete_;
    }
    const auto start = clock::now();
    std::chrono::milliseconds report = config{}.stall;
    const auto settled = [&] { return round_ != round || first_gone_ >= 0; };
    for (;;) {
      const bool is_last = deadline.count() != 0 && deadline <= report;
      if (wait_until(changed_, lock, start + (is_last ? deadline : report), settled)) break;
      if (is_last)
        throw error(errc::bootstrap_failed, "in-process exchange: " + std::to_string(size_ - arrived_) +
                                                " of " + std::to_string(size_) + " ranks did not come");
      if (rank == first_of(here_, true))
        std::fprintf(stderr, "chorale: rank %d waits for rank %d to make its communicator, for %lld ms\n",
                     rank, first_of(here_, false), static_cast<long long>(report.count()));
      report *= 2;
    }
    if (round_ == round)
      throw error(errc::bootstrap_failed,
                  "in-process exchange: rank " + std::to_string(first_gone_) + " has ended", {first_gone_});
    return complete_;
  }
  /// That rank will exchange nothing more: who waits for it fails.
  void leave(int rank) noexcept {
    const std::lock_guard lock{mutex_};
    if (first_gone_ < 0) first_gone_ = rank;
    changed_.notify_all();
  }

 private:
  /// The first rank of that value, or -1.
  [[nodiscard]] static int first_of(const std::vector<bool>& of, bool value) noexcept {
    const auto at = std::find(of.begin(), of.end(), value);
    return at == of.end() ? -1 : static_cast<int>(at - of.begin());
  }

  int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> here_;  ///< in this round
  int first_gone_ = -1;     ///< in time: others end because it has
  int arrived_ = 0;
  unsigned long round_ = 0;
  cards cards_;
  cards complete_;
};

/// One rank's view of a group of threads.
class in_process {
 public:
  in_process(std::shared_ptr<in_process_hub> hub, int rank) : hub_(std::move(hub)), rank_(rank) {}

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return hub_->size(); }
  [[nodiscard]] std::string job() const {
    return "in-process-" + std::to_string(reinterpret_cast<std::uintptr_t>(hub_.get()));
  }
  [[nodiscard]] std::string describe() const {
    return std::to_string(size()) + " ranks as threads of one process";
  }
  cards exchange(std::span<const std::byte> mine, std::chrono::milliseconds deadline) {
    return hub_->exchange(rank_, mine, deadline);
  }

 private:
  std::shared_ptr<in_process_hub> hub_;
  int rank_;
};

/// Runs `body(in_process&)` on `size` threads, one a rank, and joins them. Rethrows the exception that a body
/// let out first, in time: those of other ranks are often its consequences. @throws error
/// errc::invalid_argument if there cannot be so many ranks; std::system_error if there cannot be so many
/// threads.
template <class Body>
void run_in_process(int size, Body&& body) {
  if (size < 1)
    throw error(errc::invalid_argument,
                "run_in_process: a group of " + std::to_string(size) + " ranks; it has at least 1");
  auto hub = std::make_shared<in_process_hub>(size);
  std::mutex mutex;
  std::exception_ptr first;
  const auto note = [&] {
    const std::lock_guard lock{mutex};
    if (!first) first = std::current_exception();
  };
  std::vector<std::thread> threads;
  try {
    threads.reserve(static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          in_process group{hub, rank};
          body(group);
        } catch (...) {
          note();
        }
        hub->leave(rank);
      });
    }
  } catch (...) {
    note();
    for (auto rank = static_cast<int>(threads.size()); rank < size; ++rank) hub->leave(rank);
  }
  for (auto& t : threads) t.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace chorale::bootstrap
