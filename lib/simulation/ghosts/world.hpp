// Ranks without payloads: who of them goes on when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <chorale/core/clock.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/frame_arena.hpp>
#include <chorale/core/task.hpp>
#include <chorale/simulation/machine/machine.hpp>

#include "../large_pages.hpp"
#include "agenda.hpp"
#include "by_pair.hpp"
#include "flight.hpp"
#include "lane.hpp"
#include "passages.hpp"
#include "shadow.hpp"

namespace chorale::simulation::ghosts {

class transport;

/// A run of ranks on a machine. Each has its own time, which is ahead of others' while it computes; it takes
/// part in what happens only when all that is earlier has happened. One thread.
class world final : private time_source {
 public:
  /// `settings`: those of the transport that concern blocks and sizes.
  /// @throws error errc::invalid_argument if the machine has no room for so many ranks.
  world(const machine& on, int ranks, const config& settings = {});
  world(const world&) = delete;
  world& operator=(const world&) = delete;
  ~world();

  /// Runs `program(transport)` on each rank until all are over: a call of theirs. To be called again, in a
  /// row; ranks begin when they have ended the call before. @throws what a program throws; error
  /// errc::deadline, if nobody can go on, that says how many ranks wait and names the first of them.
  void run(const std::function<task<>(transport&)>& program);
  /// All ranks wait until the last one has come so far, so that they begin the next call at once.
  void gather();

  [[nodiscard]] int size() const noexcept { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] const machine& on() const noexcept { return machine_; }
  [[nodiscard]] const config& settings() const noexcept { return config_; }
  [[nodiscard]] passages& messages() noexcept { return passages_; }
  /// When the last rank has ended.
  [[nodiscard]] instant end() const noexcept;
  /// How many have happened.
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  /// What a message has in it whose bytes were not kept.
  [[nodiscard]] std::span<const std::byte> zeroes() const noexcept { return zeroes_; }
  /// What algorithms keep from call to call, of all ranks.
  [[nodiscard]] shadow& kept() noexcept { return kept_; }
  /// What they put aside during a call, of all ranks.
  [[nodiscard]] shadow& aside() noexcept { return aside_; }

  // Of the transport of one rank.

  /// What `from` sends `to`.
  [[nodiscard]] lane& between(int from, int to);
  [[nodiscard]] frame_arena& frames(int rank) noexcept { return at(rank).frames; }
  /// The time of a rank.
  [[nodiscard]] instant now(int rank) noexcept { return at(rank).now; }
  /// It computes for so long.
  void charge(int rank, duration time) noexcept { at(rank).now += time; }
  /// A message of `bytes` that `from` posts on the way to `to`: its processor's time is charged. To be sent.
  [[nodiscard]] flight& post(int from, int to, flight::kind what, std::uint64_t bytes, bool is_inline);
  void send(flight& one) { passages_.send(one, now(one.from())); }

  // Waiting.

  /// What a rank does when its turn has come.
  struct turn {
    void (*act)(void* self) = nullptr;
    void* self = nullptr;
  };
  /// Whether all has happened that a rank knows of when it looks at its memory, which is what was there when
  /// it posted or waited last: work that it has done since does not make it look. If it `settles`, as in
  /// polling a queue, it knows of all that is earlier than its own time. If not it has its turn then.
  [[nodiscard]] bool may_act(int rank, turn then, bool settles);
  /// The rank has its turn when it sees that something of that lane has come to it. False.
  bool waits_for(int rank, const lane& of);

 private:
  struct rank_state {
    instant now;
    instant settled;  ///< it knows of what happened until then
    turn next;
    const lane* awaited = nullptr;
    frame_arena frames;
    std::unique_ptr<transport> net;
    task<> program;
  };

  clock::time_point now() noexcept override;
  void give_way() noexcept override {}
  void sleep_until(clock::time_point) noexcept override {}
  void worked(host_work what, std::size_t bytes) noexcept override;

  [[nodiscard]] rank_state& at(int rank) noexcept { return ranks_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] host_number host_of(int rank) const noexcept {
    return static_cast<host_number>(rank / machine_.ranks_per_host);
  }
  [[nodiscard]] connection& connected(int a, int b);
  [[nodiscard]] int number_of(const rank_state& one) const noexcept {
    return static_cast<int>(&one - ranks_.data());
  }
  void start(rank_state& one);
  void act(rank_state& one);
  void place(flight& one);
  void complete(flight& one);
  /// Something of that lane has come to `rank`.
  void tell(int rank, const lane& of);
  void look_at_ends();

  machine machine_;
  config config_;
  agenda queue_;
  passages passages_;
  std::vector<std::uint32_t> queue_pairs_;  // of each host, so far
  std::vector<rank_state, in_large_pages<rank_state>> ranks_;
  by_pair<connection> connections_;
  std::vector<std::byte> zeroes_;
  shadow kept_;
  shadow aside_;
  instant time_{};
  std::uint64_t events_ = 0;
  int runs_ = 0;                                                // the rank whose turn it is
  const std::function<task<>(transport&)>* program_ = nullptr;  // of this call
};

}  // namespace chorale::simulation::ghosts
