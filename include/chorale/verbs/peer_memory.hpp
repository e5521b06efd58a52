// SPDX-License-Identifier: Apache-2.0
// Memory of a connected process, mapped into this one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <chorale/verbs/queue_pair.hpp>

namespace chorale::verbs {

/// Owns a mapping of memory that the peer of a connection has exposed, on devices that support it
/// (`driver::map`). It stays until this object ends, whatever happens to the connection and the peer.
/// Move-only. Not thread-safe; accesses to the memory need the usual synchronization.
class peer_memory {
 public:
  /// No memory.
  peer_memory() = default;
  /// Maps `bytes` from `address` on, which `rkey` opens for reading and writing. If this process cannot map
  /// them, the object is empty; that is not an error.
  peer_memory(const queue_pair& to, std::uint64_t address, std::uint32_t rkey, std::size_t bytes) noexcept {
    const driver& provider = to.provider();
    if (provider.map == nullptr || to.native() == nullptr || bytes == 0) return;
    void* mapped = provider.map(to.native(), address, rkey, bytes);
    if (mapped == nullptr) return;
    unmap_ = provider.unmap;
    memory_ = {static_cast<std::byte*>(mapped), bytes};
  }
  peer_memory(peer_memory&& other) noexcept
      : unmap_(other.unmap_), memory_(std::exchange(other.memory_, {})) {}
  peer_memory& operator=(peer_memory&& other) noexcept {
    std::swap(unmap_, other.unmap_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~peer_memory() {
    if (!memory_.empty()) static_cast<void>(unmap_(memory_.data(), memory_.size()));
  }

  [[nodiscard]] std::span<std::byte> memory() const noexcept { return memory_; }

 private:
  int (*unmap_)(void* address, std::size_t bytes) = nullptr;
  std::span<std::byte> memory_;
};

}  // namespace chorale::verbs
