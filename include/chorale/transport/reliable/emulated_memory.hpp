// SPDX-License-Identifier: Apache-2.0
// One-sided and atomic operations emulated over datagrams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <chorale/core/copy_bytes.hpp>
#include <chorale/transport/concepts.hpp>
#include <chorale/transport/reliable/streams.hpp>
#include <chorale/transport/windows/remote_range.hpp>

namespace chorale::transport::reliable {

/// Deleter: withdraws memory that streams know under a key.
struct concealing_deleter {
  std::uint32_t key = 0;
  std::span<const std::byte> memory{};
  bool writable = false;
  void operator()(streams* table) const noexcept { table->conceal(key, memory, writable); }
};
/// Memory known to streams until this object is destroyed; may be null.
using revealed = std::unique_ptr<streams, concealing_deleter>;

/// Memory exposed during the lifetime of this object or, without a key, a source of writes. Both sides copy
/// the data. For writes the paper does the same (P5 section 4.2); for a read, its target registers the region
/// and sends datagrams directly from it. Here no memory is registered: registering memory for one short read
/// costs more than copying it, and the memory may change or be freed while datagrams are retransmitted.
/// Move-only.
class exposed_memory {
 public:
  exposed_memory(streams* table, std::uint32_t key, std::span<const std::byte> memory, int owner,
                 bool writable) noexcept
      : revealed_(key == 0 ? nullptr : table, {key, memory, writable}), memory_(memory), owner_(owner) {}
  /// As `exposure::beyond_calls`. Destroying this object always ends peers' access at once, in a call or not.
  [[nodiscard]] exposed_memory beyond_calls() && noexcept { return std::move(*this); }
  [[nodiscard]] remote_region region() const noexcept {
    return {reinterpret_cast<std::uintptr_t>(memory_.data()), memory_.size(), revealed_.get_deleter().key,
            owner_};
  }

 private:
  revealed revealed_;
  std::span<const std::byte> memory_;
  int owner_;
};

/// The ticket of a request with a pending answer. Destroying it also frees the destination of the answer. It
/// must not be moved after the request.
class answered {
 public:
  explicit answered(streams& packets) noexcept : packets_(&packets) {}
  answered(const answered&) = delete;
  answered& operator=(const answered&) = delete;
  ~answered() {
    if (ticket_ != 0) packets_->abandon(ticket_);
  }
  [[nodiscard]] streams& packets() const noexcept { return *packets_; }
  /// Issues `request()` at the first call; returns true once the answer has arrived.
  template <class Request>
  bool advance(Request&& request) {
    if (ticket_ == 0) ticket_ = request();
    if (ticket_ == 0 || !packets_->try_finish(ticket_)) return false;
    ticket_ = 0;
    return true;
  }

 private:
  streams* packets_;
  std::uint32_t ticket_ = 0;
};

/// Memory operations over datagram streams. A write is copied into packets at once and placed when the target
/// next polls (P5: lazy placement); reads and atomic operations are answered by the target's service thread
/// if the target itself does not poll. The target checks every access: key, bounds, rights.
class emulated_memory {
 public:
  /// The target's processor executes atomic operations, so that operations on a rank's own memory need no
  /// loopback connection.
  static constexpr bool atomics_by_device = false;
  static constexpr bool reads_by_device = false;

  /// `packets` must outlive this.
  explicit emulated_memory(streams& packets) noexcept : packets_(&packets) {}

  [[nodiscard]] exposed_memory expose(std::span<std::byte> memory, peer_set = peer_set::all) {
    return exposed(memory, true);
  }
  [[nodiscard]] exposed_memory expose_alone(std::span<std::byte> memory, peer_set = peer_set::all) {
    return exposed(memory, true);
  }
  /// Exposes memory that peers may only read.
  [[nodiscard]] exposed_memory offer(std::span<const std::byte> memory, peer_set = peer_set::all) {
    return exposed(memory, false);
  }
  /// Memory that is only a local source is not exposed.
  [[nodiscard]] exposed_memory lend(std::span<const std::byte> memory, peer_set = peer_set::all) noexcept {
    return {packets_, 0, memory, packets_->rank(), false};
  }
  void forget(std::span<const std::byte>) noexcept {}
  /// Call while memory is polled for a write of `from` (-1: any rank).
  void expect(int from) { packets_->expect(from); }

  struct writing {
    streams* packets;
    write_request what;
    call_id now;
    bool operator()() {
      if (what.peer != packets->rank()) return packets->try_put(what, now);
      move_bytes({reinterpret_cast<std::byte*>(what.address), what.from.size()}, what.from);
      return true;
    }
  };
  struct reading {
    answered answer;
    remote_region source;
    std::size_t offset;
    std::span<std::byte> into;
    bool operator()() {
      if (into.empty()) return true;
      auto& packets = answer.packets();
      if (source.owner != packets.rank())
        return answer.advance(
            [&] { return packets.try_get(source.owner, source.address + offset, source.key, into); });
      packets.serve_peers();
      move_bytes(into, {reinterpret_cast<const std::byte*>(source.address + offset), into.size()});
      return true;
    }
  };
  struct operating {
    answered answer;
    remote_region target;
    std::size_t offset;
    atomic_operation what;
    std::uint64_t first;
    std::uint64_t second;
    std::uint64_t old = 0;
    bool operator()() {
      auto& packets = answer.packets();
      if (target.owner != packets.rank())
        return answer.advance([&] {
          return packets.try_atomic(target.owner, target.address + offset, target.key, what, first, second,
                                    old);
        });
      old = packets.atomic_here(target.address + offset, what, first, second);
      return true;
    }
    [[nodiscard]] std::uint64_t result() const noexcept { return old; }
  };

  // Operations to call until they return true. @throws error errc::invalid_argument beyond the bounds of the
  // remote region.
  [[nodiscard]] writing write(remote_region target, std::size_t offset, const exposed_memory&,
                              std::span<const std::byte> from, call_id now, bool notified) {
    require_within(target, offset, from.size(), packets_->ranks());
    return {packets_, {target.owner, target.address + offset, target.key, from, notified}, now};
  }
  [[nodiscard]] reading read(remote_region source, std::size_t offset, const exposed_memory&,
                             std::span<std::byte> into, call_id) {
    require_within(source, offset, into.size(), packets_->ranks());
    return {answered{*packets_}, source, offset, into};
  }
  [[nodiscard]] operating add(remote_region target, std::size_t offset, std::uint64_t value) {
    require_within(target, offset, sizeof value, packets_->ranks());
    return {answered{*packets_}, target, offset, atomic_operation::fetch_add, value, 0};
  }
  [[nodiscard]] operating swap(remote_region target, std::size_t offset, std::uint64_t expected,
                               std::uint64_t wanted) {
    require_within(target, offset, sizeof wanted, packets_->ranks());
    return {answered{*packets_}, target, offset, atomic_operation::compare_swap, expected, wanted};
  }
  /// Puts travel in messages, which arrive in order.
  [[nodiscard]] static constexpr bool keeps_order(int) noexcept { return true; }
  bool try_flush(int to) { return packets_->try_flush(to); }
  /// The peer acknowledges what its processor has placed.
  bool try_make_visible(int to) { return try_flush(to); }
  bool try_notified(int from, call_id now) { return packets_->try_notified(from, now); }

 private:
  exposed_memory exposed(std::span<const std::byte> memory, bool writable) {
    return {packets_, packets_->expose(memory, writable), memory, packets_->rank(), writable};
  }

  streams* packets_;
};

}  // namespace chorale::transport::reliable
