// SPDX-License-Identifier: Apache-2.0
#include "written_memory.hpp"

#include <algorithm>
#include <iterator>

namespace chorale::simulation {
namespace {

std::uintptr_t at(const void* where) noexcept {
  return reinterpret_cast<std::uintptr_t>(where);
}

}  // namespace

void written_memory::enter(std::size_t bytes, const stretch& of) {
  if (by_core_) touched_[of.who][of.when] += bytes;
}

void written_memory::leave(std::size_t bytes, const stretch& of) {
  if (!by_core_) return;
  auto& touches = touched_[of.who];
  const auto left = touches.find(of.when);
  left->second -= bytes;
  if (left->second == 0) touches.erase(left);
}

void written_memory::wrote(const void* to, std::size_t bytes, core by) {
  if (bytes == 0) return;
  auto begin = at(to);
  stretch made{begin + bytes, by, by_core_ ? ++touches_ : 0};
  take(begin, made.end, by);
  enter(bytes, made);
  const auto is_of_same = [&made](const stretch& other) {
    return other.who == made.who && other.when == made.when;
  };
  auto next = stretches_.lower_bound(begin);
  if (next != stretches_.end() && next->first == made.end && is_of_same(next->second)) {
    made.end = next->second.end;
    next = stretches_.erase(next);
  }
  if (next != stretches_.begin()) {
    const auto before = std::prev(next);
    if (before->second.end == begin && is_of_same(before->second)) {
      before->second.end = made.end;
      return;
    }
  }
  stretches_.emplace_hint(next, begin, made);
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

void written_memory::forget(const void* memory, std::size_t bytes) noexcept {
  take(at(memory), at(memory) + bytes, adapter);
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

template <class Counts>
std::size_t written_memory::mean_distance(const void* from, std::size_t bytes, Counts counts) const {
  if (!by_core_) return 0;
  const auto begin = at(from);
  const auto end = begin + bytes;
  std::size_t found = 0;
  std::uint64_t sum = 0;
  auto next = stretches_.upper_bound(begin);
  if (next != stretches_.begin() && std::prev(next)->second.end > begin) --next;
  for (; next != stretches_.end() && next->first < end; ++next) {
    if (!counts(next->second.who)) continue;
    std::size_t since = 0;
    const auto& touches = touched_.at(next->second.who);
    for (auto touch = touches.rbegin(); touch != touches.rend() && touch->first >= next->second.when; ++touch)
      since += touch->second;
    const std::size_t part = std::min(next->second.end, end) - std::max(next->first, begin);
    found += part;
    sum += std::uint64_t{since} * part;
  }
  return found == 0 ? 0 : static_cast<std::size_t>(sum / found);
}

std::size_t written_memory::reuse_distance(const void* from, std::size_t bytes, core who) const {
  return mean_distance(from, bytes, [who](core one) { return one == who; });
}

std::size_t written_memory::distance_of_others(const void* from, std::size_t bytes, core but) const {
  return mean_distance(from, bytes, [but](core one) { return one != but; });
}

std::size_t written_memory::take(std::uintptr_t begin, std::uintptr_t end, core but) {
  std::size_t taken = 0;
  auto next = stretches_.upper_bound(begin);
  if (next != stretches_.begin() && std::prev(next)->second.end > begin) --next;
  while (next != stretches_.end() && next->first < end) {
    const auto [first, was] = *next;
    next = stretches_.erase(next);
    if (first < begin) stretches_.emplace_hint(next, first, stretch{begin, was.who, was.when});
    if (was.end > end) next = stretches_.emplace_hint(next, end, was);
    const std::size_t part = std::min(was.end, end) - std::max(first, begin);
    leave(part, was);
    if (was.who != but) taken += part;
  }
  return taken;
}

}  // namespace chorale::simulation
