// One-sided and atomic operations that are emulated by datagrams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include <chorale/transport/concepts.hpp>
#include <chorale/transport/reliable/streams.hpp>
#include <chorale/transport/remote_range.hpp>

namespace chorale::transport::reliable {

/// Puts memory out of the peers' reach that streams know under a key.
struct concealment {
  std::uint32_t key = 0;
  std::span<const std::byte> memory{};
  bool writable = false;
  void operator()(streams* table) const noexcept { table->conceal(key, memory, writable); }
};
/// Memory that streams know, until this ends; null: they know of none.
using revealed = std::unique_ptr<streams, concealment>;

/// Memory that is exposed as long as this object lives, or, without a key, a source of writes. Nothing is
/// registered: data is copied on both sides (P5 section 4.2). Move-only.
class exposed_memory {
 public:
  exposed_memory(streams* table, std::uint32_t key, std::span<const std::byte> memory, int owner,
                 bool writable) noexcept
      : revealed_(key == 0 ? nullptr : table, {key, memory, writable}), memory_(memory), owner_(owner) {}
  /// As `exposure::beyond_calls`. What ends here is out of the peers' reach at once, in a call or not.
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

/// The ticket of a request that is answered; whoever gives it up takes the place of its answer along. Does
/// not move once it has been asked for.
class answered {
 public:
  explicit answered(streams& packets) noexcept : packets_(&packets) {}
  answered(const answered&) = delete;
  answered& operator=(const answered&) = delete;
  ~answered() {
    if (ticket_ != 0) packets_->abandon(ticket_);
  }
  [[nodiscard]] streams& packets() const noexcept { return *packets_; }
  /// Asks by `request()`, then waits for the answer; true when it is here.
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

/// Memory operations through streams of datagrams. A write is copied into packets at once and placed when the
/// target next looks (P5: lazy placement); a read or an atomic operation is answered by the target's service
/// thread if the target itself does not look. Every access is checked at the target: key, bounds, rights.
class emulated_memory {
 public:
  /// Atomic operations are the target's processor's, so that a rank's own need no connection with itself.
  static constexpr bool atomics_by_device = false;
  static constexpr bool reads_by_device = false;

  /// `packets` outlives it.
  explicit emulated_memory(streams& packets) noexcept : packets_(&packets) {}

  [[nodiscard]] exposed_memory expose(std::span<std::byte> memory) { return exposed(memory, true); }
  [[nodiscard]] exposed_memory expose_alone(std::span<std::byte> memory) { return exposed(memory, true); }
  /// Memory that peers may only read.
  [[nodiscard]] exposed_memory offer(std::span<const std::byte> memory) { return exposed(memory, false); }
  /// Memory that is only a source here is not exposed to anybody.
  [[nodiscard]] exposed_memory lend(std::span<const std::byte> memory) noexcept {
    return {packets_, 0, memory, packets_->rank(), false};
  }
  void forget(std::span<const std::byte>) noexcept {}
  /// To be called while a write of `from` (-1: of any rank) is awaited in memory.
  void expect(int from) { packets_->expect(from); }

  struct writing {
    streams* packets;
    write_request what;
    call_id now;
    bool operator()() {
      if (what.peer != packets->rank()) return packets->try_put(what, now);
      if (!what.from.empty())
        std::memmove(reinterpret_cast<std::byte*>(what.address), what.from.data(), what.from.size());
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
      std::memmove(into.data(), reinterpret_cast<const std::byte*>(source.address + offset), into.size());
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

  // Operations that are called until they return true. @throws error errc::invalid_argument outside of the
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
  bool try_flush(int to) { return packets_->try_flush(to); }
  bool try_notified(int from, call_id now) { return packets_->try_notified(from, now); }

 private:
  exposed_memory exposed(std::span<const std::byte> memory, bool writable) {
    return {packets_, packets_->expose(memory, writable), memory, packets_->rank(), writable};
  }

  streams* packets_;
};

}  // namespace chorale::transport::reliable
