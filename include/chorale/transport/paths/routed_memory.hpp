// SPDX-License-Identifier: Apache-2.0
// One-sided and atomic operations over connections or datagrams.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <chorale/transport/concepts.hpp>
#include <chorale/transport/connections/rma_queue.hpp>
#include <chorale/transport/paths/path_router.hpp>
#include <chorale/transport/reliable/emulated_memory.hpp>

namespace chorale::transport {

/// Memory exposed on both paths, or used only as a source: registered with the device, and known to the
/// streams under the same key. Move-only.
class dual_exposure {
 public:
  /// `table`: null for memory that is only a source.
  dual_exposure(exposure registered, reliable::streams* table, std::span<const std::byte> memory,
                bool writable = true)
      : registered_(std::move(registered)),
        revealed_(reveal(table, {registered_.region().key, memory, writable})) {}
  void guarded_by(withdrawal_guard guard) noexcept { registered_.guarded_by(std::move(guard)); }
  [[nodiscard]] dual_exposure beyond_calls() && noexcept {
    registered_ = std::move(registered_).beyond_calls();
    return std::move(*this);
  }
  [[nodiscard]] remote_region region() const noexcept { return registered_.region(); }
  [[nodiscard]] const exposure& registered() const noexcept { return registered_; }

 private:
  static reliable::revealed reveal(reliable::streams* table, const reliable::concealing_deleter& end) {
    if (table != nullptr) table->expose_as(end.key, end.memory, end.writable);
    return {table, end};
  }

  exposure registered_;
  reliable::revealed revealed_;
};

/// Operations use their peer's current path; a write stays on the path on which it began. All atomic
/// operations use datagrams, so that they are atomic with respect to each other. One thread at a time.
class routed_memory {
 public:
  static constexpr bool atomics_by_device = false;
  static constexpr bool reads_by_device = false;

  /// All arguments must outlive this.
  routed_memory(path_router& router, rma_queue& by_connection, reliable::streams& packets) noexcept
      : router_(&router), by_connection_(&by_connection), packets_(&packets), by_datagrams_(packets) {}

  // The set of peers is ignored: no algorithm uses these, and memory of windows and arrays is for all peers.
  [[nodiscard]] dual_exposure expose(std::span<std::byte> memory, peer_set = peer_set::all) {
    return {by_connection_->expose(memory), packets_, memory};
  }
  [[nodiscard]] dual_exposure expose_alone(std::span<std::byte> memory, peer_set = peer_set::all) {
    return {by_connection_->expose_alone(memory), packets_, memory};
  }
  [[nodiscard]] dual_exposure offer(std::span<const std::byte> memory, peer_set = peer_set::all) {
    return {by_connection_->offer(memory), packets_, memory, false};
  }
  [[nodiscard]] dual_exposure lend(std::span<const std::byte> memory, peer_set = peer_set::all) {
    return {by_connection_->lend(memory), nullptr, memory};
  }
  void forget(std::span<const std::byte> memory) noexcept { by_connection_->forget(memory); }
  /// Call while memory is polled for a write of `from` (-1: any rank).
  void expect(int from) { packets_->expect(from); }
  [[nodiscard]] const registration_cache& registrations() const noexcept {
    return by_connection_->registrations();
  }

  struct writing {
    path_router* router;
    rma_queue::transfer by_connection;
    reliable::emulated_memory::writing by_datagrams;
    path chosen = path::changing;
    path_router::held_path held{};
    bool operator()() {
      const auto& what = by_datagrams.what;
      if (what.peer == by_datagrams.packets->rank()) return by_connection();
      if (chosen == path::changing) {
        chosen = router->choose_path(what.peer, what.from.size());
        if (chosen == path::datagrams) held.begin(*router, what.peer);
      }
      if (chosen == path::changing) return false;
      if (chosen == path::connection) return by_connection();
      const bool over = by_datagrams();
      if (over) held.end();
      return over;
    }
  };
  struct reading {
    path_router* router;
    rma_queue::transfer by_connection;
    reliable::emulated_memory::reading by_datagrams;
    path chosen = path::changing;
    bool operator()() {
      const int owner = by_datagrams.source.owner;
      if (reliable::streams& packets = by_datagrams.answer.packets(); owner == packets.rank()) {
        packets.serve_peers();
        return by_connection();
      }
      if (chosen == path::changing) chosen = router->choose_path(owner, 0);
      if (chosen == path::changing) return false;
      return chosen == path::connection ? by_connection() : by_datagrams();
    }
  };

  // Operations to call until they return true. @throws error errc::invalid_argument beyond the bounds of the
  // remote region or the local exposure.
  [[nodiscard]] writing write(remote_region target, std::size_t offset, const dual_exposure& local,
                              std::span<const std::byte> from, call_id now, bool notified) {
    return {router_,
            by_connection_->write(target, offset, local.registered(), from, now, notified),
            {packets_, {target.owner, target.address + offset, target.key, from, notified}, now}};
  }
  [[nodiscard]] reading read(remote_region source, std::size_t offset, const dual_exposure& local,
                             std::span<std::byte> into, call_id now) {
    return {router_,
            by_connection_->read(source, offset, local.registered(), into, now),
            {reliable::answered{*packets_}, source, offset, into}};
  }
  [[nodiscard]] auto add(remote_region target, std::size_t offset, std::uint64_t value) {
    return by_datagrams_.add(target, offset, value);
  }
  [[nodiscard]] auto swap(remote_region target, std::size_t offset, std::uint64_t expected,
                          std::uint64_t wanted) {
    return by_datagrams_.swap(target, offset, expected, wanted);
  }
  [[nodiscard]] bool keeps_order(int to) const noexcept { return by_connection_->keeps_order(to); }
  bool try_flush(int to) { return packets_->try_flush(to) && by_connection_->try_flush(to); }
  bool try_make_visible(int to) { return packets_->try_flush(to) && by_connection_->try_make_visible(to); }
  bool try_notified(int from, call_id now) {
    return router_->notices_by_connection(from) ? by_connection_->try_notified(from, now)
                                                : packets_->try_notified(from, now);
  }

 private:
  path_router* router_;
  rma_queue* by_connection_;
  reliable::streams* packets_;
  reliable::emulated_memory by_datagrams_;
};

}  // namespace chorale::transport
