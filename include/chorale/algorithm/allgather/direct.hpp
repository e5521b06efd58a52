// SPDX-License-Identifier: Apache-2.0
// Direct allgather: every rank sends to every other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>

namespace chorale::allgather {

/// Every rank sends its block to all others and then receives theirs. Even and uneven blocks; zero copy above
/// the transport's threshold, with one registration. Cost: n - 1 messages per rank in a single step, since
/// nothing is forwarded, so a late rank delays no other's block. Best where ranks outnumber cores, so that
/// each step of the other algorithms costs a context switch, and for short messages on small groups.
///
/// Each byte of `all` is written by one message only. A peer puts its block only after this call has sent it
/// the address; the call ends when all blocks have been announced and its own puts have been flushed.
struct direct {
  static constexpr auto implements = operation::allgather;
  static constexpr bool uneven = true;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, blocks<std::byte> all) {
    // All ranks know all sizes, so they make the same choice.
    if (transfer::is_zero_copy(net, all.layout().largest()))
      co_await put_all(net, now, all);
    else
      co_await copy_all(net, now, all);
  }

 private:
  template <mailbox_transport Net>
  static int at_distance(const Net& net, int distance) {
    return (net.rank() + distance + net.size()) % net.size();
  }

  /// Chunk by chunk, so that at most two chunks per pair of ranks are under way and no rank waits for
  /// another's free blocks.
  template <mailbox_transport Net>
  static task<> copy_all(Net& net, call_id now, blocks<std::byte> all) {
    const auto mine = all[net.rank()];
    if constexpr (message_transport<Net>) {
      // All ranks know all sizes, so they make the same choice.
      if (transfer::is_whole(net, all.layout().largest())) {
        std::vector<transfer::outbound_message> sends;
        std::vector<transfer::inbound_message> receives;
        for (int d = 1; d < net.size(); ++d) {
          sends.push_back({at_distance(net, d), mine});
          receives.push_back({at_distance(net, -d), all[at_distance(net, -d)]});
        }
        co_await transfer::exchange_all(net, now, sends, receives);
        co_return;
      }
    }
    const std::size_t step = net.block_bytes();
    for (std::size_t at = 0; at < all.layout().largest(); at += step) {
      if (at < mine.size()) {
        const auto chunk = mine.subspan(at, std::min(step, mine.size() - at));
        for (int d = 1; d < net.size(); ++d) co_await net.send(at_distance(net, d), now, chunk);
      }
      for (int d = 1; d < net.size(); ++d) {
        const int from = at_distance(net, -d);
        const auto theirs = all[from];
        if (at >= theirs.size()) continue;
        const auto message = co_await net.receive(from, now);
        transfer::place(net, from, now, message, theirs.subspan(at, std::min(step, theirs.size() - at)));
      }
    }
  }

  /// Each rank sends every other the address for that rank's block, so blocks may be anywhere.
  template <mailbox_transport Net>
  static task<> put_all(Net& net, call_id now, blocks<std::byte> all) {
    if constexpr (one_sided_transport<Net>) {
      const auto exposed = transfer::expose(net, all);
      const auto mine = all[net.rank()];
      for (int d = 1; d < net.size(); ++d) {
        const int from = at_distance(net, -d);
        const remote_region here = transfer::part_of(exposed.region(), all[from]);
        co_await net.send(from, now, transfer::bytes_of(here));
      }
      for (int d = 1; d < net.size(); ++d) {
        remote_region there;
        {
          const auto address = co_await net.receive(at_distance(net, d), now);
          there = transfer::read_region(net, at_distance(net, d), now, address, mine.size());
        }
        co_await net.put_notified(there, 0, exposed, mine, now);
      }
      for (int d = 1; d < net.size(); ++d) co_await net.notified(at_distance(net, -d), now);
      for (int d = 1; d < net.size(); ++d) co_await net.flush(at_distance(net, d), now);
      exposed.copy_back(all.layout());
    }
  }
};

}  // namespace chorale::allgather
