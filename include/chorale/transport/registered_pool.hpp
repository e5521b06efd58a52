// Registered memory in small pieces: few registrations serve many connections.
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

/// Hands out pieces of slabs of `slab_bytes` (larger pieces get a slab of their own). Pieces that are given
/// back are handed out again for the same size; the memory itself goes when the pool ends. Not thread-safe.
class registered_pool {
 public:
  registered_pool(const verbs::protection_domain& domain, std::size_t slab_bytes, int access)
      : domain_(&domain), slab_bytes_(slab_bytes), access_(access) {}

  /// @throws error as verbs::registered_buffer.
  pool_block take(std::size_t bytes);

  /// Nothing may access the piece any more, on neither side. An empty one is ignored.
  void give_back(const pool_block& block) noexcept;

  [[nodiscard]] std::size_t registered_bytes() const noexcept;

 private:
  /// Pieces of one size that nobody has.
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
