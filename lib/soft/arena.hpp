// SPDX-License-Identifier: Apache-2.0
// Allocates queues and records in the segment of this process.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "layout.hpp"

namespace chorale::soft {

/// First fit with coalescing; memory is zeroed and cache-line aligned. Thread-safe.
class arena {
 public:
  explicit arena(segment& base) : base_(base) { free_[arena_begin] = segment_bytes - arena_begin; }

  /// Offset in the segment; 0 if there is no room.
  std::uint64_t allocate(std::uint64_t bytes);
  void release(std::uint64_t offset, std::uint64_t bytes) noexcept;

  /// Allocates `count` objects and returns their address; nullptr if there is no room.
  template <class T>
  T* make(std::uint64_t count = 1) {
    const std::uint64_t offset = allocate(count * sizeof(T));
    return offset == 0 ? nullptr : at<T>(base_, offset);
  }
  template <class T>
  void destroy(T* object, std::uint64_t count = 1) noexcept {
    if (object != nullptr) release(offset_of(object), count * sizeof(T));
  }
  std::uint64_t offset_of(const void* object) const noexcept {
    return static_cast<std::uint64_t>(static_cast<const unsigned char*>(object) -
                                      reinterpret_cast<const unsigned char*>(&base_));
  }

 private:
  static std::uint64_t rounded(std::uint64_t bytes) noexcept { return in_spacing(bytes); }

  segment& base_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> free_;  ///< offset -> bytes
};

}  // namespace chorale::soft
