// SPDX-License-Identifier: Apache-2.0
// Library-owned memory, allocated where the device accesses it fastest, with its registration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <chorale/verbs/memory_region.hpp>
#include <chorale/verbs/protection_domain.hpp>

namespace chorale::verbs {

/// Owns page-aligned memory from `driver::allocate` and its memory region. The protection domain and its
/// device must outlive it. Moving the object does not move the memory.
class registered_buffer {
 public:
  /// Allocates and registers `bytes` zeroed bytes. Zero is valid: `data()` is not null and the keys are
  /// valid. `access`: as for `memory_region`.
  /// @throws error as `memory_region`, and with ENOMEM if allocation fails.
  registered_buffer(const protection_domain& domain, std::size_t bytes, int access);

  [[nodiscard]] std::byte* data() const noexcept { return memory_.address; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::span<std::byte> span() const noexcept { return {data(), bytes()}; }
  /// Precondition (both keys): not closed.
  [[nodiscard]] std::uint32_t lkey() const noexcept { return region_.lkey(); }
  [[nodiscard]] std::uint32_t rkey() const noexcept { return region_.rkey(); }
  [[nodiscard]] ibv_mr* native() const noexcept { return region_.native(); }
  /// True if all of [first, first + length) lies inside.
  [[nodiscard]] bool contains(const void* first, std::size_t length) const noexcept;

  /// Deregisters and frees the memory; idempotent. @throws error if the device refuses.
  void close();

 private:
  /// Owns the memory alone, so that it is freed after the region is closed, and also if registering fails.
  struct memory {
    memory(const driver& provider, ibv_context* context, std::size_t bytes);
    memory(memory&& other) noexcept;
    memory& operator=(memory&& other) noexcept;
    ~memory() { static_cast<void>(release()); }
    /// @returns 0 or the errno.
    [[nodiscard]] int release() noexcept;

    const driver* provider = nullptr;
    ibv_context* context = nullptr;
    std::byte* address = nullptr;
    std::size_t bytes = 0;
  };

  std::size_t bytes_ = 0;
  memory memory_;
  memory_region region_;
};

}  // namespace chorale::verbs
