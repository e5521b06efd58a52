// The shared slots of a group whose ranks are on one host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include <chorale/algorithm/shared_slots.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/cache_lines.hpp>
#include <chorale/core/error.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale {

/// Slots that take as much as a block of the mailbox.
struct block_slots {
  template <mailbox_transport Net>
  [[nodiscard]] static std::size_t bytes(const Net& net) noexcept {
    return net.block_bytes();
  }
};

/// Slots for long messages: each takes as much as 64 blocks, if those of all ranks are 8 MiB at most. The
/// longer a slot is, the less often all ranks have to be waited for; but what is written to the slots should
/// still be in a cache that the cores share when it is read.
struct long_slots {
  static constexpr std::size_t blocks = 64;
  static constexpr std::size_t most_bytes = std::size_t{1} << 19;   ///< of a slot
  static constexpr std::size_t most_of_all = std::size_t{1} << 23;  ///< of those of all ranks

  template <mailbox_transport Net>
  [[nodiscard]] static std::size_t bytes(const Net& net) noexcept {
    const std::size_t one = net.block_bytes();
    const std::size_t most = std::min(most_bytes, most_of_all / static_cast<std::size_t>(net.size()));
    return std::max(one, std::min(one * blocks, most / cache_line_bytes * cache_line_bytes));
  }
};

/// The bytes of each part of a message of `bytes`, of which a slot takes `most` at once: whole cache lines,
/// and as few parts as possible, about as long as each other.
[[nodiscard]] constexpr std::size_t part_bytes(std::size_t bytes, std::size_t most) noexcept {
  if (bytes <= most) return bytes;
  const std::size_t parts = (bytes + most - 1) / most;
  return std::min(most, in_cache_lines((bytes + parts - 1) / parts));
}

/// Slots in memory that rank 0 keeps and all ranks see, made in the first call that wants them, and kept in
/// `state<host_slots<Net, Size>>()`. Where a rank cannot see it, all ranks do without. `Size::bytes(net)` is
/// what a slot takes. Cost: two messages between rank 0 and each other rank, once; two slots a rank, whose
/// pages take memory once they are written.
template <mapping_transport Net, class Size = block_slots>
class host_slots {
 public:
  /// Whether all ranks know if they have slots. The same on all of them.
  [[nodiscard]] bool is_decided() const noexcept { return is_decided_; }
  [[nodiscard]] bool are_there() const noexcept { return are_there_; }
  [[nodiscard]] shared_slots& slots() noexcept { return slots_; }

  /// Makes the slots. All ranks have to be in it, in the same call.
  task<> decide(Net& net, call_id now) {
    if (net.size() > 1 && net.maps_memory()) {
      if (net.rank() == 0)
        co_await offer(net, now);
      else
        co_await accept(net, now);
    }
    is_decided_ = true;
  }

  /// This rank's slot is written. Over when all slots are, for the one rank that arrived last, and otherwise
  /// when that rank has published. True on the last, which is to publish then. @throws error errc::mismatch
  /// if ranks make different calls.
  task<bool> arrives_last(Net& net, call_id now) {
    const bool is_last = slots_.arrive();
    if (!is_last)
      co_await net.until(
          now, [this] { return slots_.awaited(); }, [this] { return slots_.is_published(); });
    else if (!slots_.agrees()) [[unlikely]]
      co_await refuse_stranger(net, now);
    co_return is_last;
  }

 private:
  using kept_memory = decltype(std::declval<Net&>().keep(std::size_t{}));
  using seen_memory = decltype(std::declval<Net&>().map(remote_region{}, call_id{}).await_resume());

  [[nodiscard]] static std::size_t bytes(const Net& net) noexcept {
    return shared_slots::bytes(net.size(), Size::bytes(net));
  }
  void use(const Net& net, std::span<std::byte> memory) noexcept {
    slots_ = shared_slots{memory, net.rank(), net.size(), Size::bytes(net)};
    are_there_ = true;
  }
  task<> offer(Net& net, call_id now) {
    try {
      kept_.emplace(net.keep(bytes(net)));
    } catch (const error&) {
      // Without memory for it: the others are offered nothing, and all do without.
    }
    const remote_region here = kept_ ? kept_->region() : remote_region{.owner = 0};
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
  /// This rank arrived last and some rank makes another call: names it.
  task<> refuse_stranger(Net& net, call_id now) {
    const auto who = [this] { return slots_.stranger(); };
    co_await net.until(now, who, [&net, now, this] {
      const int other = slots_.stranger();
      if (other >= 0) net.differs(other, now, slots_.call_of(other));
      return other < 0;
    });
  }
  /// Yes or no, of one byte.
  static task<bool> answer(Net& net, int from, call_id now) {
    const auto message = co_await net.receive(from, now);
    co_return transfer::exact(net, from, now, message, 1)[0] != std::byte{0};
  }

  bool is_decided_ = false;
  bool are_there_ = false;
  std::optional<kept_memory> kept_;  ///< at rank 0
  std::optional<seen_memory> seen_;  ///< at the others
  shared_slots slots_;
};

}  // namespace chorale
