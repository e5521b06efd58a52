// SPDX-License-Identifier: Apache-2.0
// Memory region: memory that the device may access.
#pragma once

#include <cstddef>
#include <cstdint>

#include <chorale/verbs/handle.hpp>
#include <chorale/verbs/protection_domain.hpp>

namespace chorale::verbs {

/// Owns an ibv_mr, not the memory, which must stay mapped until the region is closed.
class memory_region {
 public:
  /// Registers `bytes` (at least 1) at `address` (any alignment). `access`: IBV_ACCESS_* flags; remote write
  /// and remote atomics also need IBV_ACCESS_LOCAL_WRITE.
  /// @throws error; the text gives RLIMIT_MEMLOCK if the memory could not be pinned.
  memory_region(const protection_domain& domain, void* address, std::size_t bytes, int access);

  [[nodiscard]] ibv_mr* native() const noexcept { return handle_.get(); }
  [[nodiscard]] std::byte* address() const noexcept { return address_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Key for the scatter/gather lists of this process. Precondition (both keys): not closed.
  [[nodiscard]] std::uint32_t lkey() const noexcept { return handle_.get()->lkey; }
  /// Key that other processes use in their RDMA requests.
  [[nodiscard]] std::uint32_t rkey() const noexcept { return handle_.get()->rkey; }
  /// True if all of [first, first + length) lies inside.
  [[nodiscard]] bool contains(const void* first, std::size_t length) const noexcept;

  /// Idempotent. @throws error if the device refuses.
  void close();

 private:
  handle<ibv_mr, &driver::dereg_mr> handle_;
  std::byte* address_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace chorale::verbs
