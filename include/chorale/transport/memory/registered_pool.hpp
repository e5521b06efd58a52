// SPDX-License-Identifier: Apache-2.0
// Small pieces of registered memory: few registrations serve many connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <chorale/verbs/protection_domain.hpp>
#include <chorale/verbs/registered_buffer.hpp>

namespace chorale::transport {

/// A piece of a pool: zeroed, 64-byte aligned, valid as long as the pool.
struct pool_block {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::uint32_t lkey = 0;
  std::uint32_t rkey = 0;
};

/// Allocates pieces from slabs of `slab_bytes` (larger pieces get their own slab). Returned pieces are reused
/// for the same size; the memory itself is freed with the pool. Not thread-safe.
class registered_pool {
 public:
  registered_pool(const verbs::protection_domain& domain, std::size_t slab_bytes, int access)
      : domain_(&domain), slab_bytes_(slab_bytes), access_(access) {}

  /// @throws error as verbs::registered_buffer.
  pool_block take(std::size_t bytes);

  /// Precondition: neither side accesses the piece any more. An empty one is ignored.
  void give_back(const pool_block& block) noexcept;

  [[nodiscard]] std::size_t registered_bytes() const noexcept;

 private:
  /// Unused pieces of one size.
  struct spare {
    std::size_t bytes;
    std::vector<pool_block> blocks;
  };
  [[nodiscard]] spare* find_spare(std::size_t bytes) noexcept;
  verbs::registered_buffer& make_slab(std::size_t bytes);

  const verbs::protection_domain* domain_;
  std::size_t slab_bytes_;
  int access_;
  verbs::registered_buffer* open_slab_ = nullptr;
  std::size_t used_ = 0;
  std::vector<std::unique_ptr<verbs::registered_buffer>> slabs_;
  std::vector<spare> spares_;  ///< few: transports use pieces of a handful of sizes
};

}  // namespace chorale::transport
