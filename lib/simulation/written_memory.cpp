#include "written_memory.hpp"

#include <algorithm>
#include <iterator>

namespace chorale::simulation {
namespace {

std::uintptr_t at(const void* where) noexcept {
  return reinterpret_cast<std::uintptr_t>(where);
}

}  // namespace

void written_memory::wrote(const void* to, std::size_t bytes, core by) {
  if (bytes == 0) return;
  auto begin = at(to);
  auto end = begin + bytes;
  take(begin, end, by);
  auto next = stretches_.lower_bound(begin);
  if (next != stretches_.end() && next->first == end && next->second.who == by) {
    end = next->second.end;
    next = stretches_.erase(next);
  }
  if (next != stretches_.begin()) {
    const auto before = std::prev(next);
    if (before->second.end == begin && before->second.who == by) {
      before->second.end = end;
      return;
    }
  }
  stretches_.emplace_hint(next, begin, stretch{end, by});
}

std::size_t written_memory::copied(const void* to, const void* from, std::size_t bytes, core by) {
  const std::size_t others = read(from, bytes, by);
  read(to, bytes, by);
  return others;
}

std::size_t written_memory::combined(const void* one, const void* other, std::size_t bytes, core by) {
  const std::size_t of_one = read(one, bytes, by);
  return std::max(of_one, read(other, bytes, by));
}

std::size_t written_memory::read(const void* from, std::size_t bytes, core by) {
  const std::size_t others = take(at(from), at(from) + bytes, by);
  if (by_core_) wrote(from, bytes, by);
  return others;
}

std::size_t written_memory::had_by(const void* from, std::size_t bytes, core who) const {
  const auto begin = at(from);
  const auto end = begin + bytes;
  std::size_t found = 0;
  auto next = stretches_.upper_bound(begin);
  if (next != stretches_.begin() && std::prev(next)->second.end > begin) --next;
  for (; next != stretches_.end() && next->first < end; ++next)
    if (next->second.who == who) found += std::min(next->second.end, end) - std::max(next->first, begin);
  return found;
}

std::size_t written_memory::take(std::uintptr_t begin, std::uintptr_t end, core but) {
  std::size_t taken = 0;
  auto next = stretches_.upper_bound(begin);
  if (next != stretches_.begin() && std::prev(next)->second.end > begin) --next;
  while (next != stretches_.end() && next->first < end) {
    const auto [first, was] = *next;
    next = stretches_.erase(next);
    if (first < begin) stretches_.emplace_hint(next, first, stretch{begin, was.who});
    if (was.end > end) next = stretches_.emplace_hint(next, end, stretch{was.end, was.who});
    if (was.who != but) taken += std::min(was.end, end) - std::max(first, begin);
  }
  return taken;
}

}  // namespace chorale::simulation
