// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <chorale/bootstrap/in_process.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/error.hpp>

#include "../core/printable.hpp"
#include "../core/timed_wait.hpp"

namespace chorale::bootstrap {
namespace {

/// The first rank with that value, or -1.
int first_of(const std::vector<bool>& of, bool value) noexcept {
  const auto at = std::find(of.begin(), of.end(), value);
  return at == of.end() ? -1 : static_cast<int>(at - of.begin());
}

/// Whether the exception only says that another rank is gone.
bool is_of_lost_peer(const std::exception_ptr& why) noexcept {
  try {
    std::rethrow_exception(why);
  } catch (const error& e) {
    return e.code() == errc::peer_lost;
  } catch (...) {
    return false;
  }
}

}  // namespace

/// The exchange in progress, and the result of the previous one.
struct in_process_hub::round {
  explicit round(std::size_t size) : here(size, false), coming(size) {}

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<bool> here;
  int first_gone = -1;  ///< the first to end, which caused the others to end
  int arrived = 0;
  unsigned long number = 0;
  cards coming;
  cards complete;
};

in_process_hub::in_process_hub(int size)
    : size_(size), round_(std::make_unique<round>(static_cast<std::size_t>(size))) {
  detail::require_same_layouts();
}

in_process_hub::~in_process_hub() = default;

cards in_process_hub::exchange(int rank, std::span<const std::byte> mine,
                               std::chrono::milliseconds deadline) {
  round& now = *round_;
  std::unique_lock lock{now.mutex};
  const auto number = now.number;
  const auto place = static_cast<std::size_t>(rank);
  now.coming[place].assign(mine.begin(), mine.end());
  // It may have arrived before in this round, if a later step failed for lack of memory.
  if (!now.here[place]) ++now.arrived;
  now.here[place] = true;
  if (now.arrived == size_) {
    now.complete = std::exchange(now.coming, cards(static_cast<std::size_t>(size_)));
    now.here.assign(now.here.size(), false);
    now.arrived = 0;
    ++now.number;
    now.changed.notify_all();
    return now.complete;
  }
  const auto start = clock::now();
  std::chrono::milliseconds report = config{}.stall;
  const auto settled = [&] { return now.number != number || now.first_gone >= 0; };
  for (;;) {
    const bool is_last = deadline.count() != 0 && deadline <= report;
    if (wait_until(now.changed, lock, start + (is_last ? deadline : report), settled)) break;
    if (is_last)
      throw error(errc::bootstrap_failed, "in-process exchange: " + std::to_string(size_ - now.arrived) +
                                              " of " + std::to_string(size_) + " ranks did not come");
    if (rank == first_of(now.here, true))
      chorale::say(stderr, "chorale: rank {} waits for rank {} to make its communicator, for {} ms\n", rank,
                   first_of(now.here, false), report.count());
    report *= 2;
  }
  if (now.number == number)
    throw error(errc::bootstrap_failed,
                "in-process exchange: rank " + std::to_string(now.first_gone) + " has ended",
                {now.first_gone});
  return now.complete;
}

void in_process_hub::leave(int rank) noexcept {
  const std::lock_guard lock{round_->mutex};
  if (round_->first_gone < 0) round_->first_gone = rank;
  round_->changed.notify_all();
}

std::string in_process::job() const {
  return "in-process-" + std::to_string(reinterpret_cast<std::uintptr_t>(hub_.get()));
}

std::string in_process::describe() const {
  return std::to_string(size()) + " ranks as threads of one process";
}

void run_in_process(int size, const std::function<void(in_process&)>& body) {
  detail::require_same_layouts();
  if (size < 1)
    throw error(errc::invalid_argument,
                "run_in_process: a group of " + std::to_string(size) + " ranks; it has at least 1");
  auto hub = std::make_shared<in_process_hub>(size);
  std::mutex mutex;
  std::exception_ptr first;
  const auto note = [&] {
    const std::lock_guard lock{mutex};
    // A rank whose communicator is destroyed by an exception ends those of the others before it gets here.
    if (!first || is_of_lost_peer(first)) first = std::current_exception();
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
