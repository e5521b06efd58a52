// SPDX-License-Identifier: Apache-2.0
// Registered memory of an algorithm, kept between calls.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <chorale/transport/concepts.hpp>
#include <chorale/verbs/registered_buffer.hpp>

namespace chorale::transport {

/// Zeroed bytes where the device accesses memory fastest, with their `Exposure` to peers; a failed call does
/// not end it. `count` includes its bytes during its lifetime. Keep it in `state<State>()`, which is
/// destroyed when no peer and no request of this rank uses it any more. Move-only.
template <class Exposure>
class kept_memory {
 public:
  /// `expose(span)` makes the exposure. `domain` and `count` must outlive this. @throws error as
  /// verbs::registered_buffer.
  template <class ExposeMemory>
  kept_memory(const verbs::protection_domain& domain, std::size_t bytes, std::size_t& count,
              ExposeMemory&& expose)
      : memory_(domain, bytes, IBV_ACCESS_LOCAL_WRITE), exposure_(expose(memory_.span())), count_(&count) {
    *count_ += memory_.bytes();
  }
  kept_memory(kept_memory&& other) noexcept
      : memory_(std::move(other.memory_)),
        exposure_(std::move(other.exposure_)),
        count_(std::exchange(other.count_, nullptr)) {}
  kept_memory& operator=(kept_memory&& other) noexcept {
    end_count();
    // Assigned first: the old exposure must be destroyed before its memory.
    exposure_ = std::move(other.exposure_);
    memory_ = std::move(other.memory_);
    count_ = std::exchange(other.count_, nullptr);
    return *this;
  }
  ~kept_memory() { end_count(); }

  [[nodiscard]] std::span<std::byte> memory() const noexcept { return memory_.span(); }
  [[nodiscard]] remote_region region() const noexcept { return exposure_.region(); }
  /// The source for puts from this memory.
  [[nodiscard]] const Exposure& exposure() const noexcept { return exposure_; }

 private:
  void end_count() noexcept {
    if (count_ != nullptr) *count_ -= memory_.bytes();
  }

  verbs::registered_buffer memory_;
  Exposure exposure_;
  std::size_t* count_;
};

}  // namespace chorale::transport
