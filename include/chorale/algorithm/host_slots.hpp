// SPDX-License-Identifier: Apache-2.0
// Shared slots for a group whose ranks are all on one host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/shared_slots.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/cache_lines.hpp>
#include <chorale/core/error.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale {

/// How the ranks of `net` access words of mapped memory: as processors do, unless the transport is one in
/// virtual time, with `shared_words()` of its own. That has `in_order()`, too, which completes when all that
/// comes before this rank's time has happened.
template <class Net>
[[nodiscard]] auto words_of(Net& net) noexcept {
  if constexpr (requires { net.shared_words(); })
    return net.shared_words();
  else
    return processor_words{};
}

/// The common members of all algorithms for which the ranks of the group have to map memory.
struct over_mapped_memory {
  static constexpr bool maps_memory = true;  ///< so do algorithms that are composed of it, within places
  /// Whether they do.
  template <class Net>
  static bool suits(const Net& net) noexcept {
    return net.maps_memory();
  }
};

/// Slots as large as a block of the mailbox.
struct block_slots {
  template <mailbox_transport Net>
  [[nodiscard]] static std::size_t bytes(const Net& net) noexcept {
    return net.block_bytes();
  }
};

/// Slots for long messages: 64 blocks each, but at most 512 KiB, at most 8 MiB for all ranks, and at least
/// one block. Longer slots need fewer waits for all ranks, but their contents should still be in a shared
/// cache when they are read.
struct long_slots {
  static constexpr std::size_t blocks = 64;
  static constexpr std::size_t most_bytes = std::size_t{1} << 19;   ///< of a slot
  static constexpr std::size_t most_of_all = std::size_t{1} << 23;  ///< of the slots of all ranks

  template <mailbox_transport Net>
  [[nodiscard]] static std::size_t bytes(const Net& net) noexcept {
    const std::size_t one = net.block_bytes();
    const std::size_t most = std::min(most_bytes, most_of_all / static_cast<std::size_t>(net.size()));
    return std::max(one, std::min(one * blocks, most / cache_line_bytes * cache_line_bytes));
  }
};

/// Divides a message of `bytes` into as few parts as possible, of at most `most` bytes (the size of a slot).
/// @returns the size of a part: whole cache lines, so that all parts are about equally long.
[[nodiscard]] constexpr std::size_t part_bytes(std::size_t bytes, std::size_t most) noexcept {
  if (bytes <= most) return bytes;
  const std::size_t parts = (bytes + most - 1) / most;
  return std::min(most, in_cache_lines((bytes + parts - 1) / parts));
}

/// Slots of `Size::bytes(net)` bytes in memory that rank 0 allocates and all ranks map, made in the first
/// call that needs them, and kept in `state<host_slots<Net, Size>>()`. If any rank cannot map the memory, no
/// rank uses slots. Cost: once, three messages between rank 0 and each other rank; two slots per rank, whose
/// pages take memory once they are written.
template <mapping_transport Net, class Size = block_slots>
class host_slots {
  using all_slots = basic_shared_slots<decltype(chorale::words_of(std::declval<Net&>()))>;

 public:
  /// Whether `decide` has run. The same on all ranks.
  [[nodiscard]] bool is_decided() const noexcept { return is_decided_; }
  [[nodiscard]] bool are_there() const noexcept { return are_there_; }
  [[nodiscard]] all_slots& slots() noexcept { return slots_; }

  /// Makes the slots if possible. Collective: all ranks must run it in the same call.
  task<> decide(Net& net, call_id now) {
    if (net.size() > 1 && net.maps_memory()) {
      if (net.rank() == 0)
        co_await offer(net, now);
      else
        co_await accept(net, now);
    }
    is_decided_ = true;
  }

  /// To be called when this rank's slot is written. Returns true on the last arriver, when all slots are
  /// written; that rank then has to publish. Returns false on the other ranks, after it has published.
  /// @throws error errc::mismatch if ranks make different calls.
  task<bool> arrives_last(Net& net, call_id now) {
    // In virtual time, whoever arrives earlier also counts earlier.
    if constexpr (requires { net.in_order(); }) co_await net.in_order();
    const bool is_last = slots_.arrive();
    if (!is_last)
      co_await net.until(
          now, [this] { return slots_.awaited(); }, [this] { return slots_.is_published(); });
    else if (!slots_.agrees()) [[unlikely]]
      co_await refuse_stranger(net, now);
    co_return is_last;
  }

 private:
  using seen_memory = decltype(std::declval<Net&>().map(remote_region{}, call_id{}).await_resume());

  [[nodiscard]] static std::size_t bytes(const Net& net) noexcept {
    return all_slots::bytes(net.size(), Size::bytes(net));
  }
  void use(Net& net, std::span<std::byte> memory) noexcept {
    slots_ = {memory, net.rank(), net.size(), Size::bytes(net), chorale::words_of(net)};
    are_there_ = true;
  }
  task<> offer(Net& net, call_id now) {
    try {
      kept_.emplace(net.keep(bytes(net)));
    } catch (const error&) {
      // No memory for slots: the others are offered an empty region, and no rank uses slots.
    }
    const remote_region here =
        kept_ ? kept_->region() : remote_region{.owner = chorale::rank_in_group(net, 0)};
    for (int r = 1; r < net.size(); ++r) co_await net.send(r, now, transfer::bytes_of(here));
    bool all_see = kept_.has_value();
    for (int r = 1; r < net.size(); ++r) all_see = co_await answer(net, r, now) && all_see;
    for (int r = 1; r < net.size(); ++r) co_await net.send(r, now, transfer::bytes_of(all_see));
    if (all_see)
      use(net, kept_->memory());
    else
      kept_.reset();
  }
  task<> accept(Net& net, call_id now) {
    remote_region there;
    {
      const auto offered = co_await net.receive(0, now);
      there = transfer::read_place(net, 0, now, offered);
    }
    if (there.bytes == bytes(net)) seen_.emplace(co_await net.map(there, now));
    const bool sees = seen_ && !seen_->memory().empty();
    co_await net.send(0, now, transfer::bytes_of(sees));
    if (co_await answer(net, 0, now))
      use(net, seen_->memory());
    else
      seen_.reset();
  }
  /// On the last arriver: throws an error that names a rank which makes a different call.
  task<> refuse_stranger(Net& net, call_id now) {
    const auto who = [this] { return slots_.stranger(); };
    co_await net.until(now, who, [&net, now, this] {
      const int other = slots_.stranger();
      if (other >= 0) net.differs(other, now, slots_.call_of(other));
      return other < 0;
    });
  }
  /// Receives a bool, of one byte.
  static task<bool> answer(Net& net, int from, call_id now) {
    const auto message = co_await net.receive(from, now);
    co_return transfer::exact(net, from, now, message, 1)[0] != std::byte{0};
  }

  bool is_decided_ = false;
  bool are_there_ = false;
  std::optional<kept_memory<Net>> kept_;  ///< at rank 0
  std::optional<seen_memory> seen_;       ///< at the other ranks
  all_slots slots_;
};

}  // namespace chorale
