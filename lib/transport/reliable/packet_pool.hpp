// SPDX-License-Identifier: Apache-2.0
// Blocks of one size that hold packets.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace chorale::transport::reliable {

/// Memory is allocated in chunks at first use, up to `limit` blocks, and kept: the total for streams to many
/// peers does not grow with their number. Not thread-safe.
class packet_pool {
 public:
  packet_pool(std::size_t block_bytes, std::size_t limit)
      : block_bytes_(block_bytes), distance_((block_bytes + 15) / 16 * 16), limit_(limit) {}

  [[nodiscard]] std::size_t block_bytes() const noexcept { return block_bytes_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return chunks_.size() * chunk_blocks * distance_;
  }
  [[nodiscard]] std::size_t in_use() const noexcept { return in_use_; }
  /// True if a block is available within the limit.
  [[nodiscard]] bool has_room() const noexcept { return in_use_ < limit_; }

  /// Takes a block, even beyond the limit: for callers that cannot progress without one. @throws
  /// std::bad_alloc.
  [[nodiscard]] std::byte* take() {
    if (free_.empty()) grow();
    std::byte* block = free_.back();
    free_.pop_back();
    ++in_use_;
    return block;
  }
  void give_back(std::byte* block) noexcept {
    free_.push_back(block);  // never allocates: `grow` reserves a place for each block
    --in_use_;
  }

 private:
  static constexpr std::size_t chunk_blocks = 16;
  void grow() {
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk_blocks * distance_));
    free_.reserve(chunks_.size() * chunk_blocks);
    for (std::size_t i = 0; i < chunk_blocks; ++i) free_.push_back(chunks_.back().get() + i * distance_);
  }

  std::size_t block_bytes_;
  std::size_t distance_;  ///< distance between blocks, whose payload begins on a 16-byte boundary
  std::size_t limit_;
  std::size_t in_use_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::vector<std::byte*> free_;
};

}  // namespace chorale::transport::reliable
