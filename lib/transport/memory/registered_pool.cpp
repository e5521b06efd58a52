// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <new>

#include <chorale/core/cache_lines.hpp>
#include <chorale/transport/memory/registered_pool.hpp>

namespace chorale::transport {
namespace {

pool_block piece(const verbs::registered_buffer& slab, std::size_t offset, std::size_t bytes) {
  return {slab.data() + offset, bytes, slab.lkey(), slab.rkey()};
}

}  // namespace

registered_pool::spare* registered_pool::find_spare(std::size_t bytes) noexcept {
  for (spare& s : spares_)
    if (s.bytes == bytes) return &s;
  return nullptr;
}

pool_block registered_pool::take(std::size_t bytes) {
  const std::size_t rounded = in_cache_lines(bytes);
  if (spare* const s = find_spare(rounded); s != nullptr && !s->blocks.empty()) {
    pool_block block = s->blocks.back();
    s->blocks.pop_back();
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

void registered_pool::give_back(const pool_block& block) noexcept {
  if (block.data == nullptr) return;
  try {
    spare* s = find_spare(in_cache_lines(block.bytes));
    if (s == nullptr) s = &spares_.emplace_back(spare{in_cache_lines(block.bytes), {}});
    s->blocks.push_back(block);
  } catch (const std::bad_alloc&) {
    // Without memory for a list entry, the piece is not reused.
  }
}

std::size_t registered_pool::registered_bytes() const noexcept {
  std::size_t sum = 0;
  for (const auto& s : slabs_) sum += s->bytes();
  return sum;
}

verbs::registered_buffer& registered_pool::make_slab(std::size_t bytes) {
  slabs_.push_back(std::make_unique<verbs::registered_buffer>(*domain_, bytes, access_));
  return *slabs_.back();
}

}  // namespace chorale::transport
