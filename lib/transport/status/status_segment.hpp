// SPDX-License-Identifier: Apache-2.0
// The memory of this process that chorale-status reads.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>

#include "status_slot.hpp"

namespace chorale::transport {

/// One memfd per process, created with its first communicator and closed with its last. A child of fork()
/// gets a private copy at the same address. Thread-safe.
class status_segment {
 public:
  /// Null if it cannot be created.
  [[nodiscard]] static std::shared_ptr<status_segment> of_process() noexcept;

  status_segment(int file, std::byte* memory) noexcept;
  ~status_segment();
  status_segment(const status_segment&) = delete;
  status_segment& operator=(const status_segment&) = delete;

  /// An initialized slot; null if all are in use.
  [[nodiscard]] status_slot* take() noexcept;
  void give_back(status_slot* slot) noexcept;

 private:
  /// State of the whole process; never destroyed, since communicators may live until it ends.
  struct of_all;
  static of_all& everywhere();
  void detach_from_parent() noexcept;
  [[nodiscard]] std::byte* place(std::size_t i) const noexcept {
    return memory_ + (i + 1) * status_slot_bytes;
  }

  int file_;
  std::byte* memory_;
  std::mutex lock_;
  std::array<bool, status_slots> taken_{};
  std::size_t end_ = 0;  ///< past the last slot ever taken
};

}  // namespace chorale::transport
