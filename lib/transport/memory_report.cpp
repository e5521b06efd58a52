#include <algorithm>

#include <chorale/core/cache_lines.hpp>
#include <chorale/transport/memory_report.hpp>

namespace chorale::transport {
namespace {

constexpr std::size_t queue_pair_context = 512;
constexpr std::size_t completion_entry = 64;
constexpr std::size_t receive_entry = 32;
constexpr std::size_t most_inline = 512;

}  // namespace

std::size_t queue_pair_bytes(std::size_t depth, std::size_t inline_bytes) noexcept {
  // Control and address segments, then either two gather entries, or the length of inline data and the data.
  return queue_pair_context +
         depth * in_cache_lines(32 + std::max<std::size_t>(32, 4 + std::min(inline_bytes, most_inline)));
}

std::size_t completion_queue_bytes(std::size_t entries) noexcept {
  return entries * completion_entry;
}

std::size_t receive_queue_bytes(std::size_t depth) noexcept {
  return depth * receive_entry;
}

}  // namespace chorale::transport
