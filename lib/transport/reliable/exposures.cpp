// SPDX-License-Identifier: Apache-2.0
#include "exposures.hpp"

#include "../group/mixing.hpp"

namespace chorale::transport::reliable {
exposures::windows::iterator exposures::find(std::uint32_t key, std::span<const std::byte> memory,
                                             bool writable) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  auto [at, end] = windows_.equal_range(key);
  for (; at != end; ++at) {
    const window& w = at->second;
    if (w.begin == begin && w.bytes == memory.size() && w.writable == writable) return at;
  }
  return windows_.end();
}

std::uint32_t exposures::add(std::span<const std::byte> memory, bool writable) {
  if (memory.empty()) return 0;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uint64_t place = mixed(mixed(secret_ ^ begin) ^ memory.size() * 2 ^ (writable ? 1U : 0U));
  const auto low = static_cast<std::uint32_t>(place);
  const std::uint32_t key = low != 0 ? low : 1;
  add_as(key, memory, writable);
  return key;
}

void exposures::add_as(std::uint32_t key, std::span<const std::byte> memory, bool writable) {
  if (memory.empty()) return;
  auto at = find(key, memory, writable);
  if (at == windows_.end()) {
    at =
        windows_.insert({key, {reinterpret_cast<std::uintptr_t>(memory.data()), memory.size(), writable, 0}});
    bytes_ += memory.size();
  }
  ++at->second.uses;
}

void exposures::remove(std::uint32_t key, std::span<const std::byte> memory, bool writable) noexcept {
  const auto at = find(key, memory, writable);
  if (at == windows_.end() || --at->second.uses != 0) return;
  bytes_ -= at->second.bytes;
  windows_.erase(at);
}

std::optional<refusal_reason> exposures::check(std::uint32_t key, std::uint64_t address, std::uint64_t bytes,
                                               bool writes) const noexcept {
  auto why = refusal_reason::key;
  for (auto [at, end] = windows_.equal_range(key); at != end; ++at) {
    const window& w = at->second;
    if (address < w.begin || address - w.begin > w.bytes || bytes > w.bytes - (address - w.begin)) {
      if (why == refusal_reason::key) why = refusal_reason::bounds;
    } else if (writes && !w.writable) {
      why = refusal_reason::rights;
    } else {
      return std::nullopt;
    }
  }
  return why;
}

}  // namespace chorale::transport::reliable
