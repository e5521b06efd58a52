// The memory of this process that chorale-status reads.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>

#include "status_slot.hpp"

namespace chorale::transport {

/// One memfd a process, made with its first communicator and gone with its last. A child of fork() gets a
/// copy of its own in the same place, which nobody else sees. Thread-safe.
class status_segment {
 public:
  /// Null if there can be none.
  [[nodiscard]] static std::shared_ptr<status_segment> of_process() noexcept;

  status_segment(int file, std::byte* memory) noexcept;
  ~status_segment();
  status_segment(const status_segment&) = delete;
  status_segment& operator=(const status_segment&) = delete;

  /// A slot as it is made; null if all are taken.
  [[nodiscard]] status_slot* take() noexcept;
  void give_back(status_slot* slot) noexcept;

 private:
  /// Of the whole process; never destroyed, since communicators may live until its end.
  struct of_all;
  static of_all& everywhere();
  void part_from_parent() noexcept;
  [[nodiscard]] std::byte* place(std::size_t i) const noexcept {
    return memory_ + (i + 1) * status_slot_bytes;
  }

  int file_;
  std::byte* memory_;
  std::mutex lock_;
  std::array<bool, status_slots> taken_{};
  std::size_t end_ = 0;  ///< of the slots that were ever taken
};

}  // namespace chorale::transport
