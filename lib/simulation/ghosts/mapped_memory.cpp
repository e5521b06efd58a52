// SPDX-License-Identifier: Apache-2.0
#include "mapped_memory.hpp"

#include <algorithm>

#include <chorale/core/cache_lines.hpp>

namespace chorale::simulation::ghosts {

std::span<std::byte> mapped_memory::make(std::uint32_t number, std::size_t bytes) {
  const auto [found, is_new] = pieces_.try_emplace(number);
  if (is_new) {
    found->second = memory_.bytes(taken_ + bytes).subspan(taken_);
    taken_ += in_spacing(bytes);
    // The largest number of lines that is in use.
    static_cast<void>(lines_.bytes(taken_ / cache_line_bytes * sizeof(line)));
  }
  return found->second;
}

std::span<std::byte> mapped_memory::find(std::uint32_t number) const noexcept {
  const auto found = pieces_.find(number);
  return found == pieces_.end() ? std::span<std::byte>{} : found->second;
}

std::size_t mapped_memory::line_of(const void* one) const noexcept {
  return static_cast<std::size_t>(static_cast<const std::byte*>(one) - memory_.begin()) / cache_line_bytes;
}

/// @returns the bytes of the lines for which `visit(number, line)` is true.
template <class Visit>
std::uint64_t mapped_memory::for_lines(const void* from, std::uint64_t bytes, const Visit& visit) noexcept {
  auto* const all = reinterpret_cast<line*>(lines_.begin());
  const std::size_t first = line_of(from);
  const std::size_t end = line_of(static_cast<const std::byte*>(from) + bytes - 1) + 1;
  std::uint64_t found = 0;
  for (std::size_t at = first; at != end; ++at) found += visit(at, all[at]) ? cache_line_bytes : 0;
  return std::min(found, bytes);
}

std::uint64_t mapped_memory::read(int rank, const void* from, std::uint64_t bytes,
                                  const void* known) noexcept {
  if (bytes == 0) return 0;
  const auto seen = known == nullptr ? static_cast<std::size_t>(-1) : line_of(known);
  return for_lines(from, bytes, [=](std::size_t number, line& one) {
    if (one.writer == 0 || one.writer == rank + 1) return false;
    one.is_shared = true;
    return number != seen;
  });
}

std::uint64_t mapped_memory::write(int rank, const void* to, std::uint64_t bytes) noexcept {
  if (bytes == 0) return 0;
  return for_lines(to, bytes, [=](std::size_t, line& one) {
    const bool is_elsewhere = one.writer != 0 && (one.writer != rank + 1 || one.is_shared);
    one = {rank + 1, false};
    return is_elsewhere;
  });
}

}  // namespace chorale::simulation::ghosts
