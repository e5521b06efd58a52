// SPDX-License-Identifier: Apache-2.0
// What memory that ranks map costs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "mapped_memory.hpp"
#include "world.hpp"

namespace chorale::simulation::ghosts {

std::span<std::byte> world::map(std::uint32_t kept, std::size_t bytes) {
  if (!mapped_) mapped_ = std::make_unique<mapped_memory>();
  return mapped_->make(kept, bytes);
}

std::span<std::byte> world::mapped(std::uint32_t kept) const noexcept {
  return mapped_ ? mapped_->find(kept) : std::span<std::byte>{};
}

std::uint64_t world::load(int rank, const std::uint64_t& word) noexcept {
  at(rank).polled = &word;
  return word;
}

void world::store(int rank, std::uint64_t& word, std::uint64_t value) noexcept {
  word = value;
  write(rank, &word, sizeof word);
  auto& known = mapped_->at(&word);
  known.visible = now(rank) + machine_.near->line;
  for (const int watcher : known.watchers) see(at(watcher), known.visible);
  known.watchers.clear();
}

std::uint64_t world::add(int rank, std::uint64_t& word, std::uint64_t value) noexcept {
  word += value;
  auto& me = at(rank);
  auto& known = mapped_->at(&word);
  // An atomic instruction waits until earlier stores have left the core.
  me.now = std::max(me.now, me.stored);
  if (mapped_->write(rank, &word, sizeof word) != 0)
    me.now = std::max(me.now, known.free) + machine_.near->transfer;
  known.free = me.now;
  me.is_fetching = false;
  return word;
}

bool world::sees(int rank, bool is_there) noexcept {
  auto& me = at(rank);
  auto& known = mapped_->at(me.polled);
  mapped_->read(rank, me.polled, sizeof *me.polled, nullptr);
  if (!is_there) {
    known.watchers.push_back(rank);
    return false;
  }
  me.now = std::max(me.now, known.visible);
  me.settled = me.now;
  me.is_fetching = false;
  return true;
}

std::uint64_t world::read(int rank, const void* from, std::uint64_t bytes) noexcept {
  if (!mapped_ || !mapped_->has(from)) return 0;
  auto& me = at(rank);
  const auto elsewhere = mapped_->read(rank, from, bytes, me.polled);
  // The reads of several lines overlap.
  if (elsewhere != 0 && !me.is_fetching) {
    charge(rank, machine_.near->transfer);
    me.is_fetching = true;
  }
  return elsewhere;
}

std::uint64_t world::write(int rank, const void* to, std::uint64_t bytes) noexcept {
  if (!mapped_ || !mapped_->has(to)) return 0;
  const auto elsewhere = mapped_->write(rank, to, bytes);
  // The core need not wait for stores.
  if (elsewhere != 0) at(rank).stored = std::max(at(rank).stored, now(rank) + machine_.near->transfer);
  return elsewhere;
}

}  // namespace chorale::simulation::ghosts
