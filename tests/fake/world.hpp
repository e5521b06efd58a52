// SPDX-License-Identifier: Apache-2.0
// Ranks as coroutines of one thread: their shared state and the scheduler.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/frame_arena.hpp>
#include <chorale/core/places.hpp>
#include <chorale/core/task.hpp>

#include "lane.hpp"
#include "memory.hpp"

namespace fake {

/// Which rank runs next if several can.
enum class order {
  random,
  in_turn,
  deep,     ///< the rank that ran last, as long as it can
  laggard,  ///< one rank runs only if no other can
};

/// Which ranks share a place.
enum class sharing {
  all,
  none,
  neighbours,  ///< places of three, the last one smaller
  in_turn,     ///< rank r is in place r mod 3
  drawn,       ///< places of different sizes, of arbitrary ranks
};

/// The conditions of a run.
struct conditions {
  int ranks = 1;
  std::uint64_t seed = 1;
  order who = order::random;
  std::size_t block_bytes = 256;
  std::size_t blocks = 2;
  std::size_t zero_copy_bytes = 100;
  std::size_t multicast_window = 3;
  bool keeps_keys = false;
  bool oversubscribed = false;
  bool copies_by_core = false;
  bool maps_memory = false;
  bool maps_within_place = false;
  sharing places = sharing::all;
  int blind_rank = -1;  ///< cannot map memory of others
  refusal refuses = refusal::none;
  std::optional<std::size_t> alltoall_zero_copy_bytes{};

  [[nodiscard]] std::string describe() const;
};

/// Where a rank is suspended: `frame` is resumed once `is_ready` returns true.
struct standstill {
  std::coroutine_handle<> frame{};
  bool (*is_ready)(void*) = nullptr;
  void* awaiter = nullptr;
  const char* operation = "";
  int peer = -1;
  chorale::call_id now{};
};

/// The shared state of all ranks of one run. Single-threaded.
class world {
 public:
  explicit world(const conditions& c);

  [[nodiscard]] const conditions& setting() const noexcept { return conditions_; }
  [[nodiscard]] const chorale::config& config() const noexcept { return config_; }
  [[nodiscard]] int size() const noexcept { return conditions_.ranks; }
  [[nodiscard]] const chorale::places& layout() const noexcept { return layout_; }
  [[nodiscard]] lane& between(int from, int to) { return made(mailboxes_, from, to, conditions_.blocks); }
  /// Multicasts from `root` to `to`.
  [[nodiscard]] lane& multicast_between(int root, int to) {
    return made(multicasts_, root, to, conditions_.multicast_window);
  }
  [[nodiscard]] registry& memory() noexcept { return memory_; }
  [[nodiscard]] chorale::frame_arena& frames(int rank) noexcept { return at(rank).frames; }

  /// Sometimes true: the rank is suspended although it could continue, so that others overtake it.
  [[nodiscard]] bool hesitates() { return random_() % 4 == 0; }
  /// Whether a device refuses this memory of its caller.
  [[nodiscard]] bool refuses(std::span<const std::byte> memory) {
    if (conditions_.refuses == refusal::none || memory.empty() || memory_.is_scratch(memory)) return false;
    return conditions_.refuses == refusal::all || random_() % 2 == 0;
  }
  void stand_still(int rank, const standstill& where) { at(rank).where = where; }
  /// Records a mistake where nothing can be thrown; the run then fails.
  void complain(const std::string& what) { complaints_ += what + "\n"; }

  /// Runs one task per rank until all have completed. @throws broken for an exception of a task, with its
  /// rank; for a deadlock, with each rank's wait; for anything left over at the end.
  void run(std::vector<chorale::task<>> programs);

 private:
  struct rank_state {
    chorale::frame_arena frames;
    std::optional<standstill> where;
  };

  /// A lane for each pair of ranks, made at its first use, since most algorithms use few.
  using lanes = std::vector<std::optional<lane>>;
  [[nodiscard]] lane& made(lanes& all, int from, int to, std::size_t blocks) {
    auto& one = all[static_cast<std::size_t>(from * size() + to)];
    if (!one) one.emplace(from, to, conditions_.block_bytes, blocks);
    return *one;
  }
  [[nodiscard]] rank_state& at(int rank) noexcept { return ranks_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::vector<int> candidates();
  [[nodiscard]] bool goes_on(int rank);
  [[noreturn]] void report_deadlock(const std::vector<chorale::task<>>& programs);
  void require_nothing_left() const;

  conditions conditions_;
  chorale::config config_;
  chorale::places layout_;
  std::mt19937_64 random_;
  registry memory_;
  std::vector<rank_state> ranks_;
  lanes mailboxes_;
  lanes multicasts_;
  std::string complaints_;
  int last_ = 0;
};

/// Runs `program(net)` on each rank of a world, over a transport `Net` of it. @throws as `world::run`
template <class Net, class Program>
void run_ranks(const conditions& c, const Program& program) {
  world all{c};
  std::vector<std::unique_ptr<Net>> nets;
  std::vector<chorale::task<>> programs;
  for (int r = 0; r < c.ranks; ++r) nets.push_back(std::make_unique<Net>(all, r));
  for (auto& net : nets) programs.push_back(program(*net));
  all.run(std::move(programs));
}

}  // namespace fake
