// SPDX-License-Identifier: Apache-2.0
// One rank's part of memory that all ranks of a group expose to each other, and single accesses to it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <chorale/core/clock.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/error.hpp>
#include <chorale/transport/concepts.hpp>
#include <chorale/transport/endpoint/endpoint.hpp>
#include <chorale/transport/memory/dependents.hpp>
#include <chorale/transport/windows/loopback.hpp>
#include <chorale/transport/windows/remote_card.hpp>
#include <chorale/verbs/registered_buffer.hpp>

namespace chorale::transport {

/// This rank's exposed memory and control words, and its pending operations on those of other ranks. Must be
/// destroyed before its transport. Offsets and sizes are in bytes and not checked here.
template <window_transport Net>
class remote_parts {
  using held_memory = decltype(std::declval<Net&>().expose(std::span<std::byte>{}));

 public:
  /// `controls`: bytes of the control words, initially zero. `let_go` is called if the transport is destroyed
  /// first.
  template <class LetGo>
  remote_parts(Net& net, std::span<std::byte> mine, std::size_t controls, LetGo&& let_go)
      : net_(net),
        memory_(net.core().memory_domain(), controls, IBV_ACCESS_LOCAL_WRITE),
        data_(exposed(net, mine)),
        control_(net.expose_alone(memory_.span())),
        under_way_(static_cast<std::size_t>(net.size())),
        listed_(net.core().dependent_objects(), std::forward<LetGo>(let_go)) {}

  [[nodiscard]] Net& net() const noexcept { return net_; }
  [[nodiscard]] remote_memory_card card() const noexcept { return {data_.region(), control_.region()}; }
  [[nodiscard]] std::byte* controls() const noexcept { return memory_.data(); }

  /// Starts writing `from`, which must not change until `flush(there.owner)`.
  void put(const remote_region& there, std::size_t offset, std::span<const std::byte> from) {
    if (is_bounced(from.size())) return put_copy(there, offset, from);
    auto& held = under_way_[static_cast<std::size_t>(there.owner)];
    if (held.size() >= most_under_way) flush(there.owner);
    try {
      held.push_back(net_.lend(from).beyond_calls());
    } catch (const error&) {
      return put_copy(there, offset, from);
    }
    finish(net_.put(there, offset, held.back(), from, now()));
  }
  /// The same for a copy of the bytes, which may change at once.
  void put_copy(const remote_region& there, std::size_t offset, std::span<const std::byte> from) {
    std::size_t at = 0;
    do {
      const auto part = from.subspan(at, std::min(most_copied, from.size() - at));
      const std::span<std::byte> place = room_for(part.size());
      move_bytes(place, part);
      finish(net_.put(there, offset + at, copies_->second, place, now()));
      at += part.size();
    } while (at < from.size());
  }
  /// The same for one control word of this rank, which must not change until the flush, after all earlier
  /// puts.
  void put_control(const remote_region& there, std::size_t offset, std::span<const std::byte> from) {
    // Otherwise it could overtake data, or an older word could replace it.
    if (!net_.keeps_order(there.owner)) flush(there.owner);
    finish(net_.put(there, offset, control_, from, now()));
  }
  void get(const remote_region& there, std::size_t offset, std::span<std::byte> into) {
    if (is_bounced(into.size())) return get_copy(there, offset, into);
    std::optional<held_memory> local;
    try {
      local.emplace(net_.expose(into));
    } catch (const error&) {
      return get_copy(there, offset, into);
    }
    finish(net_.get(there, offset, *local, into, now()));
  }
  void flush(int target) {
    finish(net_.make_visible(target, now()));
    under_way_[static_cast<std::size_t>(target)].clear();
  }
  void flush_all() {
    for (int r = 0; r < net_.size(); ++r) flush(r);
  }
  std::uint64_t fetch_add(const remote_region& there, std::size_t offset, std::uint64_t value) {
    require_atomics();
    if constexpr (Net::atomics_by_device)
      if (there.owner == net_.rank()) return own().fetch_add(there, offset, value);
    return finish(net_.fetch_add(there, offset, value, now()));
  }
  std::uint64_t compare_swap(const remote_region& there, std::size_t offset, std::uint64_t expected,
                             std::uint64_t wanted) {
    require_atomics();
    if constexpr (Net::atomics_by_device)
      if (there.owner == net_.rank()) return own().compare_swap(there, offset, expected, wanted);
    return finish(net_.compare_swap(there, offset, expected, wanted, now()));
  }

  /// Waits until the sources of all puts to `target` have been read. @throws error errc::poisoned if some may
  /// be read later than `give_up`; as `flush`.
  void settle(int target, clock::time_point give_up) {
    if constexpr (!registers) return;
    if (under_way_[static_cast<std::size_t>(target)].empty() && copied_ == 0) return;
    // An awaitable is awaited once only, so each check makes a new flush.
    const call_id look = now().parking();
    while (!net_.flush(target, look).await_ready()) {
      if (clock::now() >= give_up)
        throw error(errc::poisoned, "it was left by an exception while they were under way", {net_.rank()});
      clock::give_way();
    }
  }

 private:
  static constexpr std::size_t most_under_way = 256;
  static constexpr std::size_t copied_bytes = 4096;
  static constexpr std::size_t most_copied = std::size_t{1} << 20;
  /// Copying fewer bytes takes less time than finding the registration of their pages.
  static constexpr std::size_t most_bounced = 256;
  /// Emulated puts copy their sources before `put` returns.
  static constexpr bool registers = registering_transport<Net>;

  [[nodiscard]] call_id now() const noexcept { return net_.core().calls().window_access(); }
  /// Peers know its address and read it at any time, so that no copy can stand in for it.
  static held_memory exposed(Net& net, std::span<std::byte> mine) try {
    return net.expose_alone(mine);
  } catch (const error& e) {
    throw error(e.code(), e.reason() +
                              "; memory that the device does not register is no window: use elements "
                              "that the window allocates, as comm.make_window<T>(count)");
  }
  [[nodiscard]] static constexpr bool is_bounced(std::size_t bytes) noexcept {
    return registers && bytes != 0 && bytes <= most_bounced;
  }
  void get_copy(const remote_region& there, std::size_t offset, std::span<std::byte> into) {
    std::size_t at = 0;
    do {
      const auto part = into.subspan(at, std::min(most_copied, into.size() - at));
      const std::span<std::byte> place = room_for(part.size());
      finish(net_.get(there, offset + at, copies_->second, place, now()));
      move_bytes(part, place);
      copied_ -= part.size();
      at += part.size();
    } while (at < into.size());
  }
  /// Waits for an operation of the transport and returns its result.
  template <class Awaitable>
  auto finish(Awaitable operation) {
    operation.await_ready();
    return operation.await_resume();
  }
  /// Space for a copy of `bytes` bytes, which persists until the next flush of all ranks; flushes first if
  /// the buffer is full.
  std::span<std::byte> room_for(std::size_t bytes) {
    if (!copies_ || copies_->first.bytes() - copied_ < bytes) {
      flush_all();
      copied_ = 0;
    }
    if (!copies_ || copies_->first.bytes() < bytes) {
      copies_.reset();
      verbs::registered_buffer memory{net_.core().memory_domain(), std::max(copied_bytes, bytes),
                                      IBV_ACCESS_LOCAL_WRITE};
      auto lent = net_.expose_alone(memory.span());
      copies_.emplace(std::move(memory), std::move(lent));
    }
    const auto place = copies_->first.span().subspan(copied_, bytes);
    copied_ += bytes;
    return place;
  }
  loopback& own() {
    if (!itself_) itself_.emplace(net_.one_sided_port(), net_.settings());
    return *itself_;
  }
  void require_atomics() const {
    if constexpr (Net::atomics_by_device) {
      const device_port& port = net_.one_sided_port();
      if (port.device().attributes().atomic_cap == IBV_ATOMIC_NONE)
        throw error(errc::unsupported, "the device " + port.chosen().device.name +
                                           " has no atomic operations; use put, get and notifications");
    }
  }

  Net& net_;
  verbs::registered_buffer memory_;
  held_memory data_;
  held_memory control_;
  std::vector<std::vector<held_memory>> under_way_;                         ///< sources of puts, by target
  std::optional<std::pair<verbs::registered_buffer, held_memory>> copies_;  ///< of sources
  std::size_t copied_ = 0;  ///< bytes of these that puts since the last flush of all ranks may still read
  std::optional<loopback> itself_;
  dependents::entry listed_;
};

}  // namespace chorale::transport
