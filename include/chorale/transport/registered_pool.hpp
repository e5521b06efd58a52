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

/// Hands out pieces of slabs of `slab_bytes` (larger pieces get a slab of their own); all are given back
/// together when the pool ends. Not thread-safe.
class registered_pool {
 public:
  registered_pool(const verbs::protection_domain& domain, std::size_t slab_bytes, int access)
      : domain_(&domain), slab_bytes_(slab_bytes), access_(access) {}

  pool_block take(std::size_t bytes) {
    const std::size_t rounded = (bytes + 63) / 64 * 64;
    if (slabs_.empty() || slabs_.back()->bytes() - used_ < rounded) {
      slabs_.push_back(std::make_unique<verbs::registered_buffer>(
          *domain_, rounded > slab_bytes_ ? rounded : slab_bytes_, access_));
      used_ = 0;
    }
    auto& slab = *slabs_.back();
    pool_block block{slab.data() + used_, bytes, slab.lkey(), slab.rkey()};
    used_ += rounded;
    return block;
  }

  [[nodiscard]] std::size_t registered_bytes() const noexcept {
    std::size_t sum = 0;
    for (const auto& s : slabs_) sum += s->bytes();
    return sum;
  }

 private:
  const verbs::protection_domain* domain_;
  std::size_t slab_bytes_;
  int access_;
  std::size_t used_ = 0;
  std::vector<std::unique_ptr<verbs::registered_buffer>> slabs_;
};

}  // namespace chorale::transport
