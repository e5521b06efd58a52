// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace fake {

namespace {

/// The places of all ranks, numbered in the order of their lowest ranks.
chorale::places layout_of(const conditions& c) {
  std::mt19937_64 random{c.seed};
  std::map<std::uint64_t, int> numbers;
  std::vector<int> of;
  for (int rank = 0; rank < c.ranks; ++rank) {
    std::uint64_t key = 0;
    if (c.places == sharing::none) key = static_cast<std::uint64_t>(rank);
    if (c.places == sharing::neighbours) key = static_cast<std::uint64_t>(rank) / 3;
    if (c.places == sharing::in_turn) key = static_cast<std::uint64_t>(rank) % 3;
    if (c.places == sharing::drawn) key = random() % 2 == 0 ? 0 : random() % 5;
    of.push_back(numbers.try_emplace(key, static_cast<int>(numbers.size())).first->second);
  }
  return chorale::places{std::move(of)};
}

}  // namespace

std::string conditions::describe() const {
  constexpr const char* names[] = {"random", "in turn", "deep", "laggard"};
  constexpr const char* shares[] = {"one place", "no shared places", "places of neighbours", "places in turn",
                                    "drawn places"};
  return std::to_string(ranks) + " ranks, seed " + std::to_string(seed) + ", order " +
         names[static_cast<int>(who)] + ", " + std::to_string(blocks) + " blocks of " +
         std::to_string(block_bytes) + " bytes, straight from " + std::to_string(zero_copy_bytes) +
         " bytes, multicast window " + std::to_string(multicast_window) +
         (keeps_keys ? ", keys are kept" : "") + (oversubscribed ? ", oversubscribed" : "") +
         (copies_by_core ? ", cores copy" : "") + (maps_memory ? ", shared memory" : "") +
         (maps_within_place ? ", places share memory, " : ", ") + shares[static_cast<int>(places)] +
         (blind_rank >= 0 ? ", rank " + std::to_string(blind_rank) + " sees none" : "") +
         (refuses == refusal::none   ? ""
          : refuses == refusal::some ? ", some memory is refused"
                                     : ", all memory is refused");
}

world::world(const conditions& c)
    : conditions_(c),
      layout_(layout_of(c)),
      random_(c.seed),
      memory_(c.keeps_keys, layout_),
      ranks_(static_cast<std::size_t>(c.ranks)),
      mailboxes_(ranks_.size() * ranks_.size()),
      multicasts_(mailboxes_.size()),
      last_(static_cast<int>(c.seed % static_cast<unsigned>(c.ranks))) {
  config_.blocks = static_cast<std::uint32_t>(c.blocks);
  config_.alltoall_zero_copy_bytes = c.alltoall_zero_copy_bytes;
}

void world::run(std::vector<chorale::task<>> programs) {
  const auto look_at = [&](int rank) {
    auto& program = programs[static_cast<std::size_t>(rank)];
    try {
      if (program.done())
        program.result();
      else if (!at(rank).where)
        throw broken("an algorithm awaits something that is no operation of its transport");
    } catch (const std::exception& e) {
      throw broken("rank " + std::to_string(rank) + ": " + e.what());
    }
  };
  for (const int rank : candidates()) {
    programs[static_cast<std::size_t>(rank)].resume();
    look_at(rank);
  }
  const auto is_over = [](const chorale::task<>& program) { return program.done(); };
  while (!std::all_of(programs.begin(), programs.end(), is_over)) {
    const auto order = candidates();
    const auto next = std::find_if(order.begin(), order.end(), [&](int rank) { return goes_on(rank); });
    if (next == order.end()) report_deadlock(programs);
    last_ = *next;
    std::exchange(at(last_).where, std::nullopt)->frame.resume();
    look_at(last_);
  }
  require_nothing_left();
}

/// All ranks, in the order in which they are tried next.
std::vector<int> world::candidates() {
  std::vector<int> all(static_cast<std::size_t>(size()));
  std::iota(all.begin(), all.end(), 0);
  const int first = conditions_.who == order::in_turn || conditions_.who == order::deep
                        ? last_ + (conditions_.who == order::in_turn ? 1 : 0)
                        : static_cast<int>(random_() % all.size());
  std::rotate(all.begin(), all.begin() + first % size(), all.end());
  if (conditions_.who == order::laggard) {
    const int slow = static_cast<int>(conditions_.seed / 7 % all.size());
    std::stable_partition(all.begin(), all.end(), [slow](int rank) { return rank != slow; });
  }
  return all;
}

bool world::goes_on(int rank) {
  const auto& where = at(rank).where;
  return where && where->is_ready(where->awaiter);
}

void world::report_deadlock(const std::vector<chorale::task<>>& programs) {
  std::string text = "nobody can go on:";
  for (int rank = 0; rank < size(); ++rank) {
    text += "\n  rank " + std::to_string(rank);
    const auto& where = at(rank).where;
    if (programs[static_cast<std::size_t>(rank)].done() || !where)
      text += " is done";
    else
      text += " waits in " + std::string{chorale::name(where->now.what)} + ", call " +
              std::to_string(where->now.number) + ", for rank " + std::to_string(where->peer) + ": " +
              where->operation;
  }
  throw broken(text);
}

void world::require_nothing_left() const {
  std::string left = complaints_;
  for (const auto* all : {&mailboxes_, &multicasts_}) {
    for (const auto& one : *all) {
      const std::string of_one = one ? one->left_over() : std::string{};
      if (!of_one.empty()) left += of_one + "\n";
    }
  }
  for (int rank = 0; rank < size(); ++rank) {
    if (ranks_[static_cast<std::size_t>(rank)].frames.has_forgotten())
      left += "rank " + std::to_string(rank) + " made an operation that it never awaited\n";
  }
  if (!left.empty()) throw broken("left over at the end:\n" + left);
}

}  // namespace fake
