// Registered memory in small pieces: few registrations serve many connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <new>
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
  pool_block take(std::size_t bytes) {
    const std::size_t rounded = (bytes + 63) / 64 * 64;
    if (auto& spare = spare_[rounded]; !spare.empty()) {
      pool_block block = spare.back();
      spare.pop_back();
      block.bytes = bytes;
      std::memset(block.data, 0, rounded);
      return block;
    }
    if (rounded > slab_bytes_) return piece(make_slab(rounded), 0, bytes);
    if (open_slab_ == nullptr || open_slab_->bytes() - used_ < rounded) {
      open_slab_ = &make_slab(slab_bytes_);
      used_ = 0;
    }
    const pool_block block = piece(*open_slab_, used_, bytes);
    used_ += rounded;
    return block;
  }

  /// Nothing may access the piece any more, on neither side. An empty one is ignored.
  void give_back(const pool_block& block) noexcept {
    if (block.data == nullptr) return;
    try {
      spare_[(block.bytes + 63) / 64 * 64].push_back(block);
    } catch (const std::bad_alloc&) {
      // It is not handed out again, then.
    }
  }

  [[nodiscard]] std::size_t registered_bytes() const noexcept {
    std::size_t sum = 0;
    for (const auto& s : slabs_) sum += s->bytes();
    return sum;
  }

 private:
  verbs::registered_buffer& make_slab(std::size_t bytes) {
    slabs_.push_back(std::make_unique<verbs::registered_buffer>(*domain_, bytes, access_));
    return *slabs_.back();
  }
  static pool_block piece(const verbs::registered_buffer& slab, std::size_t offset, std::size_t bytes) {
    return {slab.data() + offset, bytes, slab.lkey(), slab.rkey()};
  }

  const verbs::protection_domain* domain_;
  std::size_t slab_bytes_;
  int access_;
  verbs::registered_buffer* open_slab_ = nullptr;
  std::size_t used_ = 0;
  std::vector<std::unique_ptr<verbs::registered_buffer>> slabs_;
  std::map<std::size_t, std::vector<pool_block>> spare_;
};

}  // namespace chorale::transport
