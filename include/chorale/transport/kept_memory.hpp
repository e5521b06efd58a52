// Registered memory of an algorithm's own, which stays from call to call.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <chorale/transport/concepts.hpp>
#include <chorale/verbs/registered_buffer.hpp>

namespace chorale::transport {

/// Bytes of zeroes where the device reaches memory fastest, and their `Exposure` to peers; no call's failure
/// ends it. `count` has its bytes as long as it lives. It is to be kept in `state<S>()`, which ends when no
/// peer and no request of this rank uses it any more. Move-only.
template <class Exposure>
class kept_memory {
 public:
  /// `expose(span)` makes the exposure. `domain` and `count` outlive it. @throws error as
  /// verbs::registered_buffer.
  template <class Expose>
  kept_memory(const verbs::protection_domain& domain, std::size_t bytes, std::size_t& count, Expose&& expose)
      : memory_(domain, bytes, IBV_ACCESS_LOCAL_WRITE), exposure_(expose(memory_.span())), count_(&count) {
    *count_ += memory_.bytes();
  }
  kept_memory(kept_memory&& other) noexcept
      : memory_(std::move(other.memory_)),
        exposure_(std::move(other.exposure_)),
        count_(std::exchange(other.count_, nullptr)) {}
  kept_memory& operator=(kept_memory&& other) noexcept {
    end_count();
    // The exposure goes before the memory.
    exposure_ = std::move(other.exposure_);
    memory_ = std::move(other.memory_);
    count_ = std::exchange(other.count_, nullptr);
    return *this;
  }
  ~kept_memory() { end_count(); }

  [[nodiscard]] std::span<std::byte> memory() const noexcept { return memory_.span(); }
  [[nodiscard]] remote_region region() const noexcept { return exposure_.region(); }
  /// What a put from there takes.
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
