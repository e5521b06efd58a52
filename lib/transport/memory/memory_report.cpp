// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include <chorale/core/cache_lines.hpp>
#include <chorale/transport/memory/memory_report.hpp>

namespace chorale::transport {
namespace {

constexpr std::size_t queue_pair_context = 512;
/// Bytes of a request on mlx5: a control segment, and the segments of a memory window bind or an address.
constexpr std::size_t request_header = 192;
constexpr std::size_t completion_entry = 64;
constexpr std::size_t receive_entry = 32;
constexpr std::size_t most_inline = 512;

}  // namespace

std::size_t queue_pair_bytes(std::size_t depth, std::size_t inline_bytes) noexcept {
  // Two gather entries, or the length of inline data and the data.
  const std::size_t content = std::max<std::size_t>(32, 4 + std::min(inline_bytes, most_inline));
  return queue_pair_context + std::bit_ceil(depth * in_cache_lines(request_header + content));
}

std::size_t completion_queue_bytes(std::size_t entries) noexcept {
  return entries * completion_entry;
}

std::size_t receive_queue_bytes(std::size_t depth) noexcept {
  return depth * receive_entry;
}

}  // namespace chorale::transport
