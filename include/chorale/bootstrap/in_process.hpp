// SPDX-License-Identifier: Apache-2.0
// Ranks as threads of one process, for tests and teaching.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <chorale/bootstrap/concept.hpp>

namespace chorale::bootstrap {

/// The exchange shared by the threads of one group. Thread-safe.
class in_process_hub {
 public:
  explicit in_process_hub(int size);  ///< For a group of `size` ranks.
  in_process_hub(const in_process_hub&) = delete;
  in_process_hub& operator=(const in_process_hub&) = delete;
  ~in_process_hub();
  [[nodiscard]] int size() const noexcept { return size_; }

  /// Waits for all ranks as long as none has ended; reports missing ranks on standard error after a minute,
  /// and again at doubling intervals. `deadline` zero: no limit.
  cards exchange(int rank, std::span<const std::byte> mine, std::chrono::milliseconds deadline);
  /// Declares that `rank` will not exchange again; ranks that wait for it fail.
  void leave(int rank) noexcept;

 private:
  struct round;

  int size_;
  std::unique_ptr<round> round_;
};

/// One rank's view of a group of threads.
class in_process {
 public:
  /// Rank `rank` of the hub's group, on its own thread.
  in_process(std::shared_ptr<in_process_hub> hub, int rank) : hub_(std::move(hub)), rank_(rank) {}

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return hub_->size(); }
  [[nodiscard]] std::string job() const;
  [[nodiscard]] std::string describe() const;
  cards exchange(std::span<const std::byte> mine, std::chrono::milliseconds deadline) {
    return hub_->exchange(rank_, mine, deadline);
  }

 private:
  std::shared_ptr<in_process_hub> hub_;
  int rank_;
};

/// Runs `body(in_process&)` on `size` threads, one per rank, and joins them. Rethrows the earliest exception
/// of any body that is not errc::peer_lost, which is often a consequence of another rank's exception; if
/// there are only such, one of them. @throws error errc::invalid_argument if `size` is out of range;
/// std::system_error if threads cannot be created.
void run_in_process(int size, const std::function<void(in_process&)>& body);

}  // namespace chorale::bootstrap
