#include "written_memory.hpp"

#include <algorithm>
#include <iterator>

namespace chorale::simulation {

void written_memory::wrote(const void* to, std::size_t bytes) {
  if (bytes == 0) return;
  auto begin = reinterpret_cast<std::uintptr_t>(to);
  auto end = begin + bytes;
  auto next = ends_.upper_bound(begin);
  if (next != ends_.begin() && std::prev(next)->second >= begin) --next;
  while (next != ends_.end() && next->first <= end) {
    begin = std::min(begin, next->first);
    end = std::max(end, next->second);
    next = ends_.erase(next);
  }
  ends_.emplace_hint(next, begin, end);
}

std::size_t written_memory::copied(const void* to, const void* from, std::size_t bytes) {
  const std::size_t cold = take(from, bytes);
  take(to, bytes);
  return cold;
}

std::size_t written_memory::combined(const void* one, const void* other, std::size_t bytes) {
  const std::size_t of_one = take(one, bytes);
  return std::max(of_one, take(other, bytes));
}

std::size_t written_memory::fresh(const void* from, std::size_t bytes) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(from);
  const auto end = begin + bytes;
  std::size_t found = 0;
  auto next = ends_.upper_bound(begin);
  if (next != ends_.begin() && std::prev(next)->second > begin) --next;
  for (; next != ends_.end() && next->first < end; ++next)
    found += std::min(next->second, end) - std::max(next->first, begin);
  return found;
}

std::size_t written_memory::take(const void* from, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(from);
  const auto end = begin + bytes;
  std::size_t taken = 0;
  auto next = ends_.upper_bound(begin);
  if (next != ends_.begin() && std::prev(next)->second > begin) --next;
  while (next != ends_.end() && next->first < end) {
    const auto [first, last] = *next;
    next = ends_.erase(next);
    if (first < begin) ends_.emplace_hint(next, first, begin);
    if (last > end) next = ends_.emplace_hint(next, end, last);
    taken += std::min(last, end) - std::max(first, begin);
  }
  return taken;
}

}  // namespace chorale::simulation
