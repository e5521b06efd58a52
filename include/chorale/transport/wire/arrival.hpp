// SPDX-License-Identifier: Apache-2.0
// A message that has arrived.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace chorale::transport {

/// A message in place at the receiver, valid until `release()` or destruction. Both return the place by
/// `owner.release(from)`, noexcept; messages of one sender are released in order. Move-only.
template <class Owner, class Sender>
class arrival {
 public:
  arrival(Owner& owner, Sender from, std::span<const std::byte> bytes) noexcept
      : owner_(&owner), from_(from), bytes_(bytes) {}
  arrival(arrival&& other) noexcept
      : owner_(std::exchange(other.owner_, nullptr)), from_(other.from_), bytes_(other.bytes_) {}
  arrival& operator=(arrival&& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(from_, other.from_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~arrival() { release(); }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  void release() noexcept {
    if (owner_ != nullptr) std::exchange(owner_, nullptr)->release(from_);
  }

 private:
  Owner* owner_;
  Sender from_;
  std::span<const std::byte> bytes_;
};

}  // namespace chorale::transport
