// SPDX-License-Identifier: Apache-2.0
// One-sided and atomic operations over connections, on memory exposed by peers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <chorale/transport/concepts.hpp>
#include <chorale/transport/connections/connections.hpp>
#include <chorale/transport/memory/per_peer.hpp>
#include <chorale/transport/memory/registration_cache.hpp>
#include <chorale/transport/windows/remote_range.hpp>
#include <chorale/verbs/peer_memory.hpp>

namespace chorale::transport {

/// Puts, gets, atomic operations and notifications. A cache for each lane holds registrations of user memory.
/// If there are two lanes, all atomic operations are executed by the device between places, so that they are
/// atomic with respect to each other: those on memory of a rank of this place use a connection of their own.
/// One thread at a time.
class rma_queue {
 public:
  /// The device's atomic operations are atomic with respect to each other, but not to the processor's.
  static constexpr bool atomics_by_device = true;
  static constexpr bool reads_by_device = true;
  /// State per peer.
  struct peer {
    std::uint64_t last_put = 0;           ///< request number of the last put, or of its fence
    bool is_placed = true;                ///< whether that request is complete
    std::deque<std::uint32_t> notices{};  ///< notifications that arrived and were not consumed yet
    std::uint64_t notices_sent = 0;
    std::uint64_t notices_received = 0;
    pool_block old_value{};  ///< of the next atomic operation; empty: not made yet, or in use
    pool_block fenced{};     ///< receives the word that a fence reads; made at first use
  };

  /// Settings: those of the registration cache. `near_atomics`: the connections by which atomic operations
  /// reach near peers. Both connections must outlive this.
  rma_queue(connections& links, const config& settings, connections& near_atomics);

  [[nodiscard]] const device_port& port() const noexcept { return links_->port(); }
  /// Whether a core of this process copies the data of reads and writes.
  [[nodiscard]] bool copies_by_core() const noexcept { return port().device().copies_by_core(); }
  [[nodiscard]] const registration_cache& registrations() const noexcept { return cache_; }

  // With two lanes, memory is registered with the devices by which the `peers` are reached.
  /// Registers memory that peers may write and read. @throws error as verbs::memory_region.
  [[nodiscard]] exposure expose(std::span<std::byte> memory, peer_set peers = peer_set::all) {
    return registered(memory, registration_cache::rights::remote, peers);
  }
  /// The same without the cache: peers can access exactly these bytes, and none once the object has been
  /// destroyed.
  [[nodiscard]] exposure expose_alone(std::span<std::byte> memory, peer_set peers = peer_set::all);
  /// Registers memory that peers may read; it may be read-only.
  [[nodiscard]] exposure offer(std::span<const std::byte> memory, peer_set peers = peer_set::all) {
    return registered(memory, registration_cache::rights::read, peers);
  }
  /// Registers memory that is a source of transfers; it may be read-only.
  [[nodiscard]] exposure lend(std::span<const std::byte> memory, peer_set peers = peer_set::all) {
    return offer(memory, peers);
  }
  /// Call before memory that may have been exposed is returned to the device.
  void forget(std::span<const std::byte> memory) noexcept {
    cache_.forget(memory.data(), memory.size());
    if (near_cache_) near_cache_->forget(memory.data(), memory.size());
  }
  /// The device places peers' writes without help.
  void expect(int) noexcept {}

  /// A put or get in progress, in requests of at most 1 GiB.
  struct transfer {
    rma_queue* queue;
    ibv_wr_opcode opcode;
    int owner;
    std::uint64_t address;  ///< of the owner
    std::uint32_t rkey;
    std::uint32_t lkey;
    std::span<const std::byte> memory;
    call_id now;
    std::size_t posted_bytes = 0;
    std::uint64_t ticket = 0;
    bool last_posted = false;
    bool operator()() { return queue->advance(*this); }
  };
  struct atomic {
    rma_queue* queue;
    connections* links;
    ibv_wr_opcode opcode;
    remote_region remote;
    std::size_t offset;
    std::uint64_t first;
    std::uint64_t second;
    std::uint64_t ticket = 0;
    pool_block place{};  ///< receives the old value; of its own, since other operations may be in progress
    std::uint64_t old = 0;
    bool operator()() { return queue->advance(*this); }
    [[nodiscard]] std::uint64_t result() const noexcept { return old; }
  };
  /// Maps memory of a peer into this process.
  struct mapping {
    rma_queue* queue;
    remote_region there;
    verbs::peer_memory seen{};
    bool operator()() { return queue->advance(*this); }
    [[nodiscard]] verbs::peer_memory result() noexcept { return std::move(seen); }
  };

  // Operations to call until they return true. @throws error errc::invalid_argument beyond the bounds of the
  // remote region or the local exposure.
  [[nodiscard]] transfer write(remote_region target, std::size_t offset, const exposure& local,
                               std::span<const std::byte> from, call_id now, bool notified) {
    return begun(notified ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE, target, offset, local, from, now);
  }
  [[nodiscard]] transfer read(remote_region source, std::size_t offset, const exposure& local,
                              std::span<std::byte> into, call_id now) {
    return begun(IBV_WR_RDMA_READ, source, offset, local, into, now);
  }
  [[nodiscard]] atomic add(remote_region target, std::size_t offset, std::uint64_t value) {
    return begun(IBV_WR_ATOMIC_FETCH_AND_ADD, target, offset, value, 0);
  }
  [[nodiscard]] atomic swap(remote_region target, std::size_t offset, std::uint64_t expected,
                            std::uint64_t wanted) {
    return begun(IBV_WR_ATOMIC_CMP_AND_SWP, target, offset, expected, wanted);
  }
  [[nodiscard]] mapping map(remote_region there) {
    require_within(there, 0, there.bytes, ranks_);
    return {this, there};
  }
  /// Whether puts to that rank become visible there in the order in which they were started.
  [[nodiscard]] bool keeps_order(int to) const noexcept {
    const connection* c = links_->find(to);
    return c == nullptr || c->there.in_order;
  }
  bool try_flush(int to);
  /// Makes puts visible on a device that may acknowledge them earlier: posts a read behind them.
  bool try_make_visible(int to);
  bool try_notified(int from, call_id now);

  // The interface for connections.
  void on_notice(connection& from, std::uint32_t word);
  void count(int peer, ledger& l) const noexcept;
  void describe(memory_report& m) const;

 private:
  [[nodiscard]] exposure registered(std::span<const std::byte> memory, registration_cache::rights wanted,
                                    peer_set peers);
  /// Whether these peers are reached through the device of this place, and through the other one.
  [[nodiscard]] bool reaches_near(peer_set peers) const noexcept {
    return near_cache_ && peers != peer_set::far;
  }
  [[nodiscard]] bool reaches_far(peer_set peers) const noexcept {
    return !near_cache_ || peers != peer_set::near;
  }
  [[nodiscard]] transfer begun(ibv_wr_opcode opcode, const remote_region& remote, std::size_t offset,
                               const exposure& local, std::span<const std::byte> memory, call_id now) {
    require_within(remote, offset, memory.size(), ranks_);
    require_lent(local, memory);
    const bool near = links_->is_near(remote.owner);
    return {this,
            opcode,
            remote.owner,
            remote.address + offset,
            near ? remote.near_key : remote.key,
            near ? local.near_lkey() : local.lkey(),
            memory,
            now};
  }
  [[nodiscard]] atomic begun(ibv_wr_opcode opcode, const remote_region& remote, std::size_t offset,
                             std::uint64_t first, std::uint64_t second) {
    require_within(remote, offset, sizeof first, ranks_);
    connections* const links = links_->is_near(remote.owner) ? near_atomics_ : links_;
    return {this, links, opcode, remote, offset, first, second};
  }
  static void require_lent(const exposure& local, std::span<const std::byte> memory) {
    if (!local.contains(memory)) [[unlikely]]
      reject_local();
  }
  [[noreturn]] static void reject_local();
  /// For devices on which a completed put need not be visible at the target: posts a read from there, which
  /// completes after all earlier puts have been placed. False if there is no room yet.
  bool fence(connection& c, peer& p);
  bool advance(transfer& t);
  bool advance(atomic& a);
  bool advance(mapping& m);

  connections* links_;
  connections* near_atomics_;
  int rank_;
  int ranks_;
  registration_cache cache_;
  std::optional<registration_cache> near_cache_;
  per_peer<peer> peers_;
};

}  // namespace chorale::transport
