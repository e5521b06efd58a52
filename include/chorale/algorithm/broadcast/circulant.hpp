// Broadcast over a circulant graph.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/topology/circulant_broadcast.hpp>

namespace chorale::broadcast {

/// The message is divided into m blocks, and all ranks send and receive one in nearly every round, each to
/// and from ceil(log2 n) others by turns. Cost: m - 1 + ceil(log2 n) rounds of a block, the fewest that there
/// can be, for any n: every rank sends each byte about once, as in a `chain`, and a block is everywhere after
/// log n rounds, as in a `binomial` tree. Zero copy where long.  Source: `topology::circulant_broadcast`.
///
/// Each block of `data` is received once, and sent in later rounds than that; puts have been placed when the
/// call is over.
struct circulant {
  static constexpr auto implements = operation::broadcast;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;
  /// A block of a long message, in bytes.
  static constexpr std::size_t segment_bytes = std::size_t{1} << 16;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, int root) {
    if constexpr (one_sided_transport<Net>) {
      // Blocks flow without waiting for a receiver's address, so that puts pay off later than in an exchange.
      if (transfer::is_zero_copy(net, data.size() / 4)) return by_puts(net, now, data, root);
    }
    return by_copies(net, now, data, root);
  }

 private:
  /// The message in blocks, and the rounds in which this rank moves them.
  struct plan {
    template <mailbox_transport Net>
    plan(const Net& net, std::span<std::byte> all, int root, std::size_t one)
        : data(all),
          block_bytes(one),
          rounds(net.rank(), net.size(), root, static_cast<int>((all.size() + one - 1) / one)) {}
    [[nodiscard]] std::span<std::byte> operator[](int block) const noexcept {
      if (block < 0) return {};
      const std::size_t at = static_cast<std::size_t>(block) * block_bytes;
      return data.subspan(at, std::min(block_bytes, data.size() - at));
    }
    std::span<std::byte> data;
    std::size_t block_bytes;
    topology::circulant_broadcast rounds;
  };

  template <mailbox_transport Net>
  static task<> by_copies(Net& net, call_id now, std::span<std::byte> data, int root) {
    const bool in_segments = transfer::is_whole(net, data.size());
    const plan blocks{net, data, root, in_segments ? segment_bytes : net.block_bytes()};
    for (const auto round : blocks.rounds)
      co_await transfer::copy(net, now, round.to, blocks[round.sent], round.from, blocks[round.received]);
  }

  /// Each rank tells those that it receives from where its buffer is, and they put blocks there.
  template <one_sided_transport Net>
  static task<> by_puts(Net& net, call_id now, std::span<std::byte> data, int root) {
    const plan blocks{net, data, root, segment_bytes};
    const auto exposed = net.expose(data);
    const remote_region here = exposed.region();
    std::vector<int> receivers(31, -1);
    unsigned told = 0;
    for (const auto round : blocks.rounds) {
      if (round.sent >= 0) receivers[static_cast<std::size_t>(round.index)] = round.to;
      if (round.received < 0 || (told >> round.index & 1U) != 0) continue;
      told |= 1U << round.index;
      co_await net.send(round.from, now, transfer::bytes_of(here));
    }
    std::vector<remote_region> there(receivers.size());
    for (std::size_t k = 0; k < receivers.size(); ++k) {
      if (receivers[k] < 0) continue;
      const auto address = co_await net.receive(receivers[k], now);
      there[k] = transfer::read_region(net, receivers[k], now, address, data.size());
    }
    for (const auto round : blocks.rounds) {
      if (round.sent >= 0) {
        const auto block = blocks[round.sent];
        const auto at = static_cast<std::size_t>(block.data() - data.data());
        co_await net.put_notified(there[static_cast<std::size_t>(round.index)], at, exposed, block, now);
      }
      if (round.received >= 0) co_await net.notified(round.from, now);
    }
    for (const int to : receivers)
      if (to >= 0) co_await net.flush(to, now);
  }
};

}  // namespace chorale::broadcast
