// SPDX-License-Identifier: Apache-2.0
#include "shadow.hpp"

#include <cerrno>
#include <functional>
#include <sys/mman.h>
#include <system_error>

#include <fmt/format.h>

#include <chorale/core/error.hpp>

namespace chorale::simulation::ghosts {
namespace {

constexpr std::size_t most = std::size_t{1} << 40;

}  // namespace

shadow::shadow() {
  void* const at =
      mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    throw error({errno, std::generic_category()},
                "ghosts: this process may not have 1 TiB of addresses; raise its limit (ulimit -v)");
  begin_ = static_cast<std::byte*>(at);
}

shadow::~shadow() {
  munmap(begin_, most);
}

std::span<std::byte> shadow::bytes(std::size_t count) {
  if (count > most)
    throw error(errc::invalid_argument, fmt::format("ghosts: a buffer of {} bytes, of at most 1 TiB", count));
  return {begin_, count};
}

std::span<std::byte> shadow::part(int index, std::size_t count) {
  constexpr std::size_t each = most / parts;
  if (index < 0 || index >= parts || count > each)
    throw error(
        errc::invalid_argument,
        fmt::format("ghosts: a rank puts {} bytes aside, and has put {} others, of at most {} of 128 GiB",
                    count, index, parts));
  return {begin_ + static_cast<std::size_t>(index) * each, count};
}

bool shadow::has(const std::byte* one) const noexcept {
  return !std::less<>{}(one, begin_) && std::less<>{}(one, begin_ + most);
}

}  // namespace chorale::simulation::ghosts
