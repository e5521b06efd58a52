// SPDX-License-Identifier: Apache-2.0
// What a device needs to know if the processor copies its payloads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

#include <infiniband/verbs.h>

#include <chorale/simulation/time.hpp>

#include "../written_memory.hpp"

namespace chorale::simulation::device {

/// Payloads that the core which posts a request copies to the target.
class core_copies {
 public:
  core_copies(const core_copies&) = delete;
  core_copies& operator=(const core_copies&) = delete;

  /// The message size from which one copy from buffer to buffer is faster than two through shared memory.
  [[nodiscard]] virtual std::size_t zero_copy_from() const noexcept = 0;
  /// The time that the posting core, `by`, takes to copy the request's payload.
  [[nodiscard]] virtual duration time_for(const ibv_send_wr& request, written_memory::core by) const = 0;
  /// The core `by` has written there.
  virtual void wrote(const void* to, std::size_t bytes, written_memory::core by) = 0;

  /// The device has allocated that memory, which all of its processes map, or frees it.
  void shares(const void* memory, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    ends_[begin] = begin + bytes;
  }
  virtual void shares_no_more(const void* memory, std::size_t) noexcept {
    ends_.erase(reinterpret_cast<std::uintptr_t>(memory));
  }

 protected:
  core_copies() = default;
  ~core_copies() = default;
  /// Whether the device has allocated that byte.
  [[nodiscard]] bool is_shared(std::uint64_t address) const noexcept {
    const auto next = ends_.upper_bound(address);
    return next != ends_.begin() && std::prev(next)->second > address;
  }

 private:
  std::map<std::uintptr_t, std::uintptr_t> ends_;  ///< end of each shared range, by its begin
};

}  // namespace chorale::simulation::device
