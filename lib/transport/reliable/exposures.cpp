#include <chorale/transport/reliable/exposures.hpp>

namespace chorale::transport::reliable {
namespace {

std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ x >> 33) * 0xff51afd7ed558ccdULL;
  x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ x >> 33;
}

}  // namespace

std::uint32_t exposures::add(std::span<const std::byte> memory, bool writable) {
  if (memory.empty()) return 0;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uint64_t place = mixed(mixed(secret_ ^ begin) ^ memory.size() * 2 ^ (writable ? 1U : 0U));
  for (auto key = static_cast<std::uint32_t>(place);; ++key) {
    if (key == 0) continue;
    const auto [at, fresh] = windows_.try_emplace(key, window{begin, memory.size(), writable, 0});
    window& w = at->second;
    if (w.begin != begin || w.bytes != memory.size() || w.writable != writable) continue;
    if (fresh) bytes_ += memory.size();
    ++w.uses;
    return key;
  }
}

void exposures::remove(std::uint32_t key) noexcept {
  const auto at = windows_.find(key);
  if (at == windows_.end() || --at->second.uses != 0) return;
  bytes_ -= at->second.bytes;
  windows_.erase(at);
}

std::optional<refusal_reason> exposures::check(std::uint32_t key, std::uint64_t address, std::uint64_t bytes,
                                               bool writes) const noexcept {
  const auto at = windows_.find(key);
  if (at == windows_.end()) return refusal_reason::key;
  const window& w = at->second;
  if (address < w.begin || address - w.begin > w.bytes || bytes > w.bytes - (address - w.begin))
    return refusal_reason::bounds;
  if (writes && !w.writable) return refusal_reason::rights;
  return std::nullopt;
}

}  // namespace chorale::transport::reliable
