// Memory that the library owns, where the device reaches it fastest, with its registration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <chorale/verbs/memory_region.hpp>
#include <chorale/verbs/protection_domain.hpp>

namespace chorale::verbs {

/// Owns page-aligned memory from `driver::allocate` and its memory region. The protection domain and its
/// device must outlive it. Moving it does not move the memory.
class registered_buffer {
 public:
  /// Allocates and registers `bytes` of zeroes. Zero bytes is valid: `data()` is then not null, and the keys
  /// are. `access`: as in `memory_region`.
  /// @throws error, as `memory_region`, and with ENOMEM if there is no memory.
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

  /// Ends the registration and gives the memory back; a second call does nothing. @throws error.
  void close();

 private:
  /// The memory alone, so that it is given back after the region is closed, and if registering fails.
  struct memory {
    memory(const driver& provider, ibv_context* context, std::size_t bytes);
    memory(memory&& other) noexcept;
    memory& operator=(memory&& other) noexcept;
    ~memory() { static_cast<void>(release()); }
    /// @returns errno or 0.
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
