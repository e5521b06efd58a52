// Ranks that are threads of one process, for tests and for teaching.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <chorale/bootstrap/concept.hpp>
#include <chorale/core/lean_chrono.hpp>
#include <chorale/core/lean_functional.hpp>

namespace chorale::bootstrap {

/// The meeting place of the threads of one group. Thread-safe.
class in_process_hub {
 public:
  explicit in_process_hub(int size);  ///< For a group of `size` ranks.
  in_process_hub(const in_process_hub&) = delete;
  in_process_hub& operator=(const in_process_hub&) = delete;
  ~in_process_hub();
  [[nodiscard]] int size() const noexcept { return size_; }

  /// Waits for all ranks as long as none of them has ended, and says on standard error who is missing after
  /// a minute, and again in doubled intervals. `deadline` zero: without a limit.
  cards exchange(int rank, std::span<const std::byte> mine, std::chrono::milliseconds deadline);
  /// That rank will exchange nothing more: who waits for it fails.
  void leave(int rank) noexcept;

 private:
  struct round;

  int size_;
  std::unique_ptr<round> round_;
};

/// One rank's view of a group of threads.
class in_process {
 public:
  /// Rank `rank` of the hub's group, on a thread of its own.
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

/// Runs `body(in_process&)` on `size` threads, one a rank, and joins them. Rethrows the exception that a body
/// let out first, in time: those of other ranks are often its consequences. @throws error
/// errc::invalid_argument if there cannot be so many ranks; std::system_error if there cannot be so many
/// threads.
void run_in_process(int size, const std::function<void(in_process&)>& body);

}  // namespace chorale::bootstrap
