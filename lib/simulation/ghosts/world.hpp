// SPDX-License-Identifier: Apache-2.0
// Ranks without payloads, and the order in which they continue.
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
#include <chorale/core/places.hpp>
#include <chorale/core/task.hpp>
#include <chorale/simulation/machine/machine.hpp>

#include "../large_pages.hpp"
#include "../near_work.hpp"
#include "agenda.hpp"
#include "by_pair.hpp"
#include "flight.hpp"
#include "lane.hpp"
#include "mapped_memory.hpp"
#include "passages.hpp"
#include "shadow.hpp"

namespace chorale::simulation::ghosts {

class transport;

/// A run of ranks on a machine. Each rank has its own time, which is ahead of the others' while it computes;
/// it interacts with others only after all earlier events. One thread.
class world final : private time_source {
 public:
  /// `settings`: the transport's, of which those about blocks and sizes are used.
  /// @throws error errc::invalid_argument if the machine has no room for `ranks`.
  world(const machine& on, int ranks, const config& settings = {});
  world(const world&) = delete;
  world& operator=(const world&) = delete;
  ~world();

  /// Runs `program(transport)` on each rank until all have ended, as one call. It may be called repeatedly;
  /// each rank begins when it has ended its previous call. @throws what a program throws; error
  /// errc::deadline, if no rank can continue, that says how many ranks wait and names the first of them.
  void run(const std::function<task<>(transport&)>& program);
  /// Advances all ranks to the time of the last one, so that they begin the next call at once.
  void gather();

  [[nodiscard]] int size() const noexcept { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] const machine& on() const noexcept { return machine_; }
  [[nodiscard]] const config& settings() const noexcept { return config_; }
  /// The ranks and their hosts.
  [[nodiscard]] const host_layout& hosts() const noexcept { return hosts_; }
  /// A place for each host.
  [[nodiscard]] const places& layout() const noexcept { return layout_; }
  /// Whether some ranks reach others without their adapter.
  [[nodiscard]] bool has_neighbours() const noexcept { return machine_.near && layout_.largest() > 1; }
  /// The number of blocks of a mailbox.
  [[nodiscard]] std::uint32_t blocks() const noexcept { return blocks_; }
  [[nodiscard]] passages& messages() noexcept { return passages_; }
  /// The time at which the last rank has ended.
  [[nodiscard]] instant end() const noexcept;
  /// The number of events so far.
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  /// The content of messages whose bytes were not kept; another copy of it for those of neighbours.
  [[nodiscard]] std::span<const std::byte> zeroes(bool of_neighbour = false) const noexcept {
    return of_neighbour ? neighbours_zeroes_ : zeroes_;
  }
  /// The memory that algorithms keep between calls, of all ranks.
  [[nodiscard]] shadow& kept() noexcept { return kept_; }
  /// The scratch memory of a call, of all ranks.
  [[nodiscard]] shadow& aside() noexcept { return aside_; }
  /// A number for memory that an algorithm keeps.
  [[nodiscard]] std::uint32_t number_kept() noexcept { return ++kept_so_far_; }
  /// Maps kept memory of that number: from then on it is not the shadow, but at first zeroes.
  [[nodiscard]] std::span<std::byte> map(std::uint32_t kept, std::size_t bytes);
  /// The same, if some rank has mapped it; else empty.
  [[nodiscard]] std::span<std::byte> mapped(std::uint32_t kept) const noexcept;

  // For the transport of one rank.

  /// Whether they reach each other without their adapter.
  [[nodiscard]] bool are_neighbours(int a, int b) { return connected(a, b).is_near; }
  /// The direction from `from` to `to`.
  [[nodiscard]] lane& between(int from, int to);
  [[nodiscard]] frame_arena& frames(int rank) noexcept { return at(rank).frames; }
  /// The rank's own time.
  [[nodiscard]] instant now(int rank) noexcept { return at(rank).now; }
  /// The rank computes for `time`.
  void charge(int rank, duration time) noexcept { at(rank).now += time; }
  /// The rank copies `bytes` bytes, `elsewhere` of which are in the cache of another core.
  void copy(int rank, std::uint64_t bytes, std::uint64_t elsewhere = 0) noexcept;
  /// A message of a neighbour has left `bytes` bytes in that core's cache, until the rank has read them.
  void pass(int rank, std::uint64_t bytes) noexcept { at(rank).passed += bytes; }
  /// The same for a message whose bytes were kept: until another one, or until `content` is empty.
  void pass(int rank, std::span<const std::byte> content) noexcept { at(rank).content = content; }
  /// The rank reads these bytes. @returns how many of them a neighbour has left in its cache.
  [[nodiscard]] std::uint64_t fetch(int rank, const void* from, std::uint64_t bytes) noexcept;
  /// Creates the message of `bytes` that `from` posts to `to`, and charges the posting processor; the caller
  /// sends it. `elsewhere`: of these, the bytes that are in another core's cache, for a message to a
  /// neighbour.
  [[nodiscard]] flight& post(int from, int to, flight::kind what, std::uint64_t bytes, bool is_inline,
                             std::uint64_t elsewhere = 0);
  void send(flight& one) { passages_.send(one, now(one.from())); }

  // Words in mapped memory (mapping.cpp).

  /// The rank looks at the word, which costs nothing as long as no store changes it.
  [[nodiscard]] std::uint64_t load(int rank, const std::uint64_t& word) noexcept;
  /// Ranks that poll the word see the value after `near_costs::line`; the rank does not wait.
  void store(int rank, std::uint64_t& word, std::uint64_t value) noexcept;
  /// The rank adds to the word when it has its line, for which all that add to it queue. @returns the sum.
  [[nodiscard]] std::uint64_t add(int rank, std::uint64_t& word, std::uint64_t value) noexcept;
  /// What the rank waits for is there, or not, according to the word that it has loaded last. If not, it
  /// continues when that word is stored to. @returns is_there.
  [[nodiscard]] bool sees(int rank, bool is_there) noexcept;

  // Waiting.

  /// What a rank does when it continues.
  struct turn {
    void (*act)(void* self) = nullptr;
    void* self = nullptr;
  };
  /// Whether everything that the rank must know of when it polls its memory has happened: everything up to
  /// its last post or wait, since work does not poll. With `settles`, as in polling a completion queue,
  /// everything before the rank's own time. If false, `then` is called later.
  [[nodiscard]] bool may_act(int rank, turn then, bool settles);
  /// The rank continues when it sees an arrival over that lane. @returns false.
  bool waits_for(int rank, const lane& of);

 private:
  struct rank_state {
    instant now;
    instant settled;  ///< the rank knows of everything up to then
    turn next;
    const lane* awaited = nullptr;
    std::uint64_t passed = 0;               ///< bytes of its neighbours that it has not read yet
    std::span<const std::byte> content;     ///< of the neighbour's message that it reads, if it was kept
    instant stored;                         ///< when what it has written to mapped memory has left its core
    const std::uint64_t* polled = nullptr;  ///< the word in mapped memory that it has loaded last
    bool is_fetching = false;  ///< it has read a line of another core since it last synchronised with others
    frame_arena frames;
    std::unique_ptr<transport> net;
    task<> program;
  };

  clock::time_point now() noexcept override;
  void give_way() noexcept override {}
  void sleep_until(clock::time_point) noexcept override {}
  void copied(void* to, const void* from, std::size_t bytes) noexcept override;
  void combined(void* mine, const void* other, std::size_t bytes) noexcept override;

  [[nodiscard]] rank_state& at(int rank) noexcept { return ranks_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] host_number host_of(int rank) const noexcept {
    return static_cast<host_number>(hosts_.host_of(rank));
  }
  [[nodiscard]] connection& connected(int a, int b);
  [[nodiscard]] int number_of(const rank_state& one) const noexcept {
    return static_cast<int>(&one - ranks_.data());
  }
  void start(rank_state& one);
  void act(rank_state& one);
  void place(flight& one);
  void complete(flight& one);
  void work(int rank, const near_work::piece& what) noexcept {
    charge(rank, near_.time(what, host_of(rank), now(rank)));
  }
  /// The rank reads or writes memory, which may be mapped. @returns how many bytes come from other cores.
  std::uint64_t read(int rank, const void* from, std::uint64_t bytes) noexcept;
  std::uint64_t write(int rank, const void* to, std::uint64_t bytes) noexcept;
  /// The polls of a rank that waits find at `when` what it waits for.
  void see(rank_state& waits, instant when) noexcept;
  /// Something has arrived over that lane for `rank`, whose core sees it after `notice`.
  void tell(int rank, const lane& of, duration notice);
  [[nodiscard]] duration notice_of(const flight& one) const noexcept {
    return one.on->is_near ? duration{} : machine_.host.notice;
  }
  void look_at_ends();

  machine machine_;
  host_layout hosts_;
  config config_;
  places layout_;
  agenda queue_;
  passages passages_;
  std::vector<std::uint32_t> queue_pairs_;  // of adapters, created so far on each host
  near_work near_;
  std::vector<rank_state, in_large_pages<rank_state>> ranks_;
  by_pair<connection> connections_;
  std::uint32_t blocks_;
  std::vector<std::byte> zeroes_;
  std::vector<std::byte> neighbours_zeroes_;
  shadow kept_;
  shadow aside_;
  std::unique_ptr<mapped_memory> mapped_;  // null until memory is mapped
  std::uint32_t kept_so_far_ = 0;
  instant time_{};
  std::uint64_t events_ = 0;
  int runs_ = 0;                                                // the running rank
  const std::function<task<>(transport&)>* program_ = nullptr;  // of the current call
};

}  // namespace chorale::simulation::ghosts
