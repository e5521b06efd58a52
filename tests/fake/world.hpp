// Ranks in one thread, each a coroutine: what they share, and who of them goes on next.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/frame_arena.hpp>
#include <chorale/core/task.hpp>

#include "lane.hpp"
#include "memory.hpp"

namespace fake {

/// Who goes on where several ranks could.
enum class order {
  random,
  in_turn,
  deep,     ///< whoever went on last, as long as it can
  laggard,  ///< one of them only when nobody else can
};

/// What differs from run to run.
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
  int blind_rank = -1;  ///< sees no memory of others

  [[nodiscard]] std::string describe() const;
};

/// Where a rank stands still: `is_ready` is asked until it says yes, then `frame` is resumed.
struct standstill {
  std::coroutine_handle<> frame{};
  bool (*is_ready)(void*) = nullptr;
  void* awaiter = nullptr;
  const char* operation = "";
  int peer = -1;
  chorale::call_id now{};
};

/// What the ranks of one run share. One thread.
class world {
 public:
  explicit world(const conditions& c);

  [[nodiscard]] const conditions& setting() const noexcept { return conditions_; }
  [[nodiscard]] const chorale::config& config() const noexcept { return config_; }
  [[nodiscard]] int size() const noexcept { return conditions_.ranks; }
  [[nodiscard]] lane& between(int from, int to) noexcept { return mailboxes_[index(from, to)]; }
  /// What `root` multicasts, as `to` gets it.
  [[nodiscard]] lane& multicast_between(int root, int to) noexcept { return multicasts_[index(root, to)]; }
  [[nodiscard]] registry& memory() noexcept { return memory_; }
  [[nodiscard]] chorale::frame_arena& frames(int rank) noexcept { return at(rank).frames; }

  /// True now and then: a rank stands still though it could go on, so that others overtake it.
  [[nodiscard]] bool hesitates() { return random_() % 4 == 0; }
  void stand_still(int rank, const standstill& where) { at(rank).where = where; }
  /// What went wrong where nothing can be thrown; the run fails by it.
  void complain(const std::string& what) { complaints_ += what + "\n"; }

  /// Runs one task a rank until all are over. @throws broken: what a task throws, with its rank in front; who
  /// waits for whom, if nobody can go on; what is left over at the end, if anything is.
  void run(std::vector<chorale::task<>> programs);

 private:
  struct rank_state {
    chorale::frame_arena frames;
    std::optional<standstill> where;
  };

  [[nodiscard]] std::size_t index(int from, int to) const noexcept {
    return static_cast<std::size_t>(from * size() + to);
  }
  [[nodiscard]] rank_state& at(int rank) noexcept { return ranks_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::vector<int> candidates();
  [[nodiscard]] bool goes_on(int rank);
  [[noreturn]] void report_deadlock(const std::vector<chorale::task<>>& programs);
  void require_nothing_left() const;

  conditions conditions_;
  chorale::config config_;
  std::mt19937_64 random_;
  registry memory_;
  std::vector<rank_state> ranks_;
  std::vector<lane> mailboxes_;
  std::vector<lane> multicasts_;
  std::string complaints_;
  int last_ = 0;
};

}  // namespace fake
