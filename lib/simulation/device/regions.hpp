// SPDX-License-Identifier: Apache-2.0
// The memory regions of an adapter, by key.
#pragma once

#include <cstdint>
#include <vector>

#include "objects.hpp"

namespace chorale::simulation::device {

/// An access to memory: by which queue pair, where and how.
struct reach {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  const ibv_pd* domain = nullptr;  ///< of the queue pair
  int access = 0;                  ///< IBV_ACCESS_* that the region must allow
};

/// Keys of regions. A key has the region's index in the upper half, and in the lower half a number that this
/// index has not had recently, so that stale and wrong keys are detected. A region's two keys differ.
class region_table {
 public:
  /// Fills the keys. False if no index is left. @throws std::bad_alloc.
  bool add(memory_region& region);
  void remove(const memory_region& region) noexcept;
  /// The first byte of `wanted`, if this local or remote key permits the access; nullptr if not.
  [[nodiscard]] std::byte* local(std::uint32_t key, const reach& wanted) const noexcept;
  [[nodiscard]] std::byte* remote(std::uint32_t key, const reach& wanted) const noexcept;

 private:
  [[nodiscard]] const memory_region* at(std::uint32_t key) const noexcept;

  std::vector<memory_region*> all_{nullptr};  ///< index 0 is unused: key 0 is never valid
  std::vector<std::uint32_t> free_;
  std::uint32_t serial_ = 0;
};

}  // namespace chorale::simulation::device
