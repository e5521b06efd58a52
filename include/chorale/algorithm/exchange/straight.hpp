// SPDX-License-Identifier: Apache-2.0
// Messages of an exchange that go straight into the receiver's buffer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <chorale/algorithm/exchange/manifest.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/config.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::exchange {

/// True if the receiver reads straight messages, which is better if cores copy them: then the data are in the
/// receiver's cache, and the sender need not know the destination. False if the sender puts them, through an
/// adapter. The same on all ranks.
template <mailbox_transport Net>
[[nodiscard]] bool receivers_read(const Net& net) noexcept {
  if constexpr (core_copying_transport<Net>)
    return net.copies_by_core();
  else
    return false;
}

/// Which messages of an exchange go straight, by their bytes. The same on all ranks.
struct straight_sizes {
  std::size_t usual;  ///< from this size on, unless their sender has learnt better
  std::size_t least;  ///< from this size on the sender decides; at most `usual`
  std::size_t sure;   ///< from this size on always; at least `usual`

  /// Senders decide about messages from 16 KiB on if each rank has a core. If ranks share cores, they do so
  /// from the usual size on: shorter straight messages cost more context switches, and those are not part of
  /// the work that is compared.
  static constexpr std::size_t least_decided = std::size_t{16} << 10;
  /// The longest messages, in bytes, about which senders decide if each rank has a core (docs/comparison.md).
  static constexpr std::size_t most_decided = std::size_t{256} << 10;
  /// The longest ones if ranks share cores.
  static constexpr std::size_t most_decided_on_shared_cores = std::size_t{128} << 10;

  /// True if senders decide about messages of some size.
  [[nodiscard]] constexpr bool are_decided() const noexcept { return least != sure; }

  /// The sizes of a transport. Not inlined, since the calls of short messages do without them.
  template <mailbox_transport Net>
  [[nodiscard, gnu::noinline]] static straight_sizes of(const Net& net) noexcept {
    constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
    if constexpr (!one_sided_transport<Net>) {
      return {never, never, never};
    } else {
      const std::size_t usual = std::max<std::size_t>(net.zero_copy_bytes(), 1);
      if (!senders_decide(net, usual)) return {usual, usual, usual};
      if (net.oversubscribed()) return {usual, usual, std::max(usual, most_decided_on_shared_cores + 1)};
      return {usual, std::min(usual, least_decided), most_decided + 1};
    }
  }

 private:
  /// True if receivers read straight messages, no setting has decided, and a message of `usual` bytes that
  /// goes straight makes the stream shorter, so that the receiver can tell (`neighbour::follow`).
  template <mailbox_transport Net>
  [[nodiscard]] static bool senders_decide(const Net& net, std::size_t usual) noexcept {
    return exchange::receivers_read(net) && !net.settings().zero_copy_bytes &&
           net.settings().trials != trial_policy::off && usual > manifest_place::packed_bytes &&
           usual <= most_decided;
  }
};
/// True if a message of `bytes` may go straight.
template <mailbox_transport Net>
[[nodiscard]] bool may_go_straight(const Net& net, std::size_t bytes) noexcept {
  // A short message, whose call is short, needs only two comparisons.
  if (bytes >= straight_sizes::least_decided) [[unlikely]]
    return bytes >= straight_sizes::of(net).least;
  return transfer::is_zero_copy(net, bytes);
}

/// The memory of straight messages, registered during the object's lifetime; empty on transports without
/// them.
template <mailbox_transport Net>
struct straight_memory {
  std::span<const std::byte> out;  ///< empty
  std::span<const std::byte> in;   ///< empty
  /// Does nothing: there are no straight messages.
  void add_out(Net&, std::span<const std::byte>) {}
  /// Does nothing: there are no straight messages.
  void add_in(Net&, std::span<std::byte>) {}
  /// Does nothing: there are no straight messages.
  template <class Use>
  void each_region(bool, std::size_t, const Use&) const {}
};
/// On transports that have straight messages.
template <one_sided_transport Net>
struct straight_memory<Net> {
  std::vector<transfer::call_memory<Net, const std::byte>> out;  ///< of messages to other ranks
  std::vector<transfer::call_memory<Net, std::byte>> in;         ///< of messages that other ranks put

  /// Adds a message that this rank sends: the peer reads it, or this rank puts it.
  void add_out(Net& net, std::span<const std::byte> bytes) {
    out.push_back(exchange::receivers_read(net) ? transfer::offer(net, bytes) : transfer::lend(net, bytes));
  }
  /// Adds the buffer for a message that the peer puts.
  void add_in(Net& net, std::span<std::byte> bytes) { in.push_back(transfer::expose(net, bytes)); }
  /// Calls `use(region)` for the regions of `out` (if `of_out`), or of `in`, from index `first` on.
  template <class Use>
  void each_region(bool of_out, std::size_t first, const Use& use) const {
    for (std::size_t i = first; of_out && i < out.size(); ++i) use(out[i].region());
    for (std::size_t i = first; !of_out && i < in.size(); ++i) use(in[i].region());
  }
};

}  // namespace chorale::exchange
