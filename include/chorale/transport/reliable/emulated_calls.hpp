// The awaitables of one-sided and atomic operations that are emulated by datagrams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include <chorale/core/error.hpp>
#include <chorale/transport/concepts.hpp>
#include <chorale/transport/endpoint.hpp>
#include <chorale/transport/reliable/streams.hpp>

namespace chorale::transport::reliable {

/// Memory that is exposed as long as this object lives, or, without a key, a source of writes. Nothing is
/// registered: data is copied on both sides (P5 section 4.2).
class exposed_memory {
 public:
  exposed_memory(streams* table, std::uint32_t key, std::span<const std::byte> memory, int owner,
                 bool writable) noexcept
      : table_(table), key_(key), memory_(memory), owner_(owner), writable_(writable) {}
  exposed_memory(exposed_memory&& other) noexcept
      : table_(other.table_),
        key_(std::exchange(other.key_, 0)),
        memory_(other.memory_),
        owner_(other.owner_),
        writable_(other.writable_) {}
  exposed_memory& operator=(exposed_memory&& other) noexcept {
    std::swap(table_, other.table_);
    std::swap(key_, other.key_);
    std::swap(memory_, other.memory_);
    std::swap(owner_, other.owner_);
    std::swap(writable_, other.writable_);
    return *this;
  }
  ~exposed_memory() {
    if (key_ != 0) table_->conceal(key_, memory_, writable_);
  }
  [[nodiscard]] remote_region region() const noexcept {
    return {reinterpret_cast<std::uintptr_t>(memory_.data()), memory_.size(), key_, owner_};
  }

 private:
  streams* table_;
  std::uint32_t key_;
  std::span<const std::byte> memory_;
  int owner_;
  bool writable_;
};

/// An operation of `Net` that is answered; whoever gives it up takes the place of its answer along.
template <class Net>
class answered {
 public:
  answered(const answered&) = delete;
  answered& operator=(const answered&) = delete;

 protected:
  explicit answered(Net* net) noexcept : net_(net) {}
  ~answered() {
    if (ticket_ != 0) net_->packets().abandon(ticket_);
  }
  [[nodiscard]] Net& net() const noexcept { return *net_; }
  /// Asks by `request()`, then waits for the answer; true when it is here.
  template <class Request>
  bool get_on(Request&& request) {
    if (ticket_ == 0) ticket_ = request();
    if (ticket_ == 0 || !net_->packets().try_finish(ticket_)) return false;
    ticket_ = 0;
    return true;
  }

 private:
  Net* net_;
  std::uint32_t ticket_ = 0;
};

/// A read under way.
template <class Net>
struct emulated_read : answered<Net> {
  remote_region source;
  std::size_t offset;
  std::span<std::byte> into;
  emulated_read(Net* n, remote_region s, std::size_t o, std::span<std::byte> i) noexcept
      : answered<Net>(n), source(s), offset(o), into(i) {}
  bool operator()() {
    if (into.empty()) return true;
    auto& net = this->net();
    if (source.owner != net.rank())
      return this->get_on([&] { return net.packets().try_get(source, offset, into); });
    std::memmove(into.data(), reinterpret_cast<const std::byte*>(source.address + offset), into.size());
    return true;
  }
};

/// An atomic operation under way.
template <class Net>
struct emulated_operation : answered<Net> {
  remote_region target;
  std::size_t offset;
  atomic_operation what;
  std::uint64_t first;
  std::uint64_t second;
  std::uint64_t old = 0;
  emulated_operation(Net* n, remote_region t, std::size_t o, atomic_operation w, std::uint64_t f,
                     std::uint64_t s) noexcept
      : answered<Net>(n), target(t), offset(o), what(w), first(f), second(s) {}
  bool operator()() {
    auto& packets = this->net().packets();
    if (target.owner != this->net().rank())
      return this->get_on([&] { return packets.try_atomic(target, offset, what, first, second, old); });
    old = packets.atomic_here(target.address + offset, what, first, second);
    return true;
  }
  [[nodiscard]] std::uint64_t result() const noexcept { return old; }
};

/// Base of a transport `Net` whose memory operations go through `net.packets()`, its streams. A write is
/// copied into packets at once and placed when the target next looks (P5: lazy placement); a read or an
/// atomic operation is answered by the target's service thread if the target itself does not look. Every
/// access is checked at the target: key, bounds, rights.
template <class Net>
class emulated_calls {
 public:
  /// Atomic operations are the target's processor's, so that a rank's own need no connection with itself.
  static constexpr bool atomics_by_device = false;
  static constexpr bool reads_by_device = false;

  [[nodiscard]] exposed_memory expose(std::span<std::byte> memory) { return exposed(memory, true); }
  [[nodiscard]] exposed_memory expose_alone(std::span<std::byte> memory) { return exposed(memory, true); }
  /// Memory that peers may only read.
  [[nodiscard]] exposed_memory offer(std::span<const std::byte> memory) { return exposed(memory, false); }
  /// Memory that is only a source here is not exposed to anybody.
  [[nodiscard]] exposed_memory lend(std::span<const std::byte> memory) noexcept {
    return {&net().packets(), 0, memory, net().rank(), false};
  }
  void forget(std::span<const std::byte>) noexcept {}
  /// To be called while a write of `from` (-1: of any rank) is awaited in memory.
  void expect(int from) { net().packets().expect(from); }

  [[nodiscard]] auto put(remote_region target, std::size_t offset, const exposed_memory&,
                         std::span<const std::byte> from, epoch now) {
    require_within(target, offset, from.size());
    return waiting{net(), target.owner, now, writing{&net(), {target, offset, from, false}, now}};
  }
  [[nodiscard]] auto put_notified(remote_region target, std::size_t offset, const exposed_memory&,
                                  std::span<const std::byte> from, epoch now) {
    require_within(target, offset, from.size());
    return waiting{net(), target.owner, now, writing{&net(), {target, offset, from, true}, now}};
  }
  [[nodiscard]] auto get(remote_region source, std::size_t offset, const exposed_memory&,
                         std::span<std::byte> into, epoch now) {
    require_within(source, offset, into.size());
    return waiting{net(), source.owner, now, emulated_read<Net>{&net(), source, offset, into}};
  }
  [[nodiscard]] auto flush(int peer, epoch now) {
    return waiting{net(), peer, now, [&n = net(), peer] { return n.packets().try_flush(peer); }};
  }
  [[nodiscard]] auto notified(int from, epoch now) {
    return waiting{net(), from, now, [&n = net(), from, now] { return n.packets().try_notified(from, now); }};
  }
  [[nodiscard]] auto fetch_add(remote_region target, std::size_t offset, std::uint64_t value, epoch now) {
    require_within(target, offset, sizeof value);
    return waiting{net(), target.owner, now,
                   emulated_operation<Net>{&net(), target, offset, atomic_operation::fetch_add, value, 0}};
  }
  [[nodiscard]] auto compare_swap(remote_region target, std::size_t offset, std::uint64_t expected,
                                  std::uint64_t wanted, epoch now) {
    require_within(target, offset, sizeof wanted);
    return waiting{
        net(), target.owner, now,
        emulated_operation<Net>{&net(), target, offset, atomic_operation::compare_swap, expected, wanted}};
  }

 protected:
  ~emulated_calls() = default;

 private:
  struct writing {
    Net* net;
    streams::write what;
    epoch now;
    bool operator()() {
      if (what.target.owner != net->rank()) return net->packets().try_put(what, now);
      if (!what.from.empty())
        std::memmove(reinterpret_cast<std::byte*>(what.target.address + what.offset), what.from.data(),
                     what.from.size());
      return true;
    }
  };

  exposed_memory exposed(std::span<const std::byte> memory, bool writable) {
    return {&net().packets(), net().packets().expose(memory, writable), memory, net().rank(), writable};
  }
  [[nodiscard]] Net& net() noexcept { return static_cast<Net&>(*this); }
  void require_within(const remote_region& region, std::size_t offset, std::size_t bytes) {
    if (region.owner < 0 || region.owner >= net().size() || offset > region.bytes ||
        bytes > region.bytes - offset)
      throw error(errc::invalid_argument, "one-sided operation: " + std::to_string(bytes) +
                                              " bytes at offset " + std::to_string(offset) +
                                              " leave the region of " + std::to_string(region.bytes) +
                                              " bytes that rank " + std::to_string(region.owner) + " of " +
                                              std::to_string(net().size()) + " exposes");
  }
};

}  // namespace chorale::transport::reliable
