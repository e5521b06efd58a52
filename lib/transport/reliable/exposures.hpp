// Memory that peers may reach by emulated operations, and the check of each access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "packet.hpp"

namespace chorale::transport::reliable {

/// What is exposed now, by key. A key follows from the place of the memory and a secret: the same memory has
/// the same key each time it is exposed, and no outsider can guess one. Not thread-safe.
class exposures {
 public:
  explicit exposures(std::uint64_t secret) noexcept : secret_(secret) {}

  /// Exposes memory, once more if it is exposed already. Returns its key, never 0. An empty span has key 0
  /// and is not kept.
  std::uint32_t add(std::span<const std::byte> memory, bool writable);
  /// The same under a key of the caller's, which may be that of other memory too.
  void add_as(std::uint32_t key, std::span<const std::byte> memory, bool writable);
  /// Undoes one `add` or `add_as`.
  void remove(std::uint32_t key, std::span<const std::byte> memory, bool writable) noexcept;
  /// Undoes all of them; what is removed later was not there.
  void clear() noexcept {
    windows_.clear();
    bytes_ = 0;
  }

  /// Nothing if the access is allowed, else why not.
  [[nodiscard]] std::optional<refusal_reason> check(std::uint32_t key, std::uint64_t address,
                                                    std::uint64_t bytes, bool writes) const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct window {
    std::uint64_t begin;
    std::uint64_t bytes;
    bool writable;
    std::uint32_t uses;
  };
  std::uint64_t secret_;
  std::size_t bytes_ = 0;
  using windows = std::unordered_multimap<std::uint32_t, window>;
  [[nodiscard]] windows::iterator find(std::uint32_t key, std::span<const std::byte> memory,
                                       bool writable) noexcept;

  windows windows_;
};

}  // namespace chorale::transport::reliable
