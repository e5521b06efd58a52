// SPDX-License-Identifier: Apache-2.0
// Memory exposed to emulated operations of peers, and the check of each access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "packet.hpp"

namespace chorale::transport::reliable {

/// The currently exposed memory, by key. A key is derived from the memory's address and a secret of the rank:
/// the same memory has the same key each time it is exposed, and outsiders cannot guess it. Not thread-safe.
class exposures {
 public:
  explicit exposures(std::uint64_t secret) noexcept : secret_(secret) {}

  /// Exposes memory; may be called repeatedly for the same memory. Returns its key, never 0. An empty span
  /// has key 0 and is not recorded.
  std::uint32_t add(std::span<const std::byte> memory, bool writable);
  /// The same under a key of the caller's, which other memory may share.
  void add_as(std::uint32_t key, std::span<const std::byte> memory, bool writable);
  /// Undoes one `add` or `add_as`.
  void remove(std::uint32_t key, std::span<const std::byte> memory, bool writable) noexcept;
  /// Undoes all of them; later calls of `remove` are ignored.
  void clear() noexcept {
    windows_.clear();
    bytes_ = 0;
  }

  /// Nothing if the access is permitted, otherwise the reason for the refusal.
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
