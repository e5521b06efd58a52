// SPDX-License-Identifier: Apache-2.0
// Direct allgather: every rank sends to every other.
#pragma once

#include <cstddef>
#include <utility>

#include <chorale/algorithm/copy_among_all.hpp>
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
    const std::size_t largest = all.layout().largest();
    if constexpr (one_sided_transport<Net>) {
      if (transfer::is_zero_copy(net, largest)) return put_all(net, now, std::move(all));
    }
    const auto mine = all[net.rank()];
    return transfer::copy_among_all(
        net, now, largest, [mine](int) { return mine; }, [all = std::move(all)](int r) { return all[r]; });
  }

 private:
  /// Each rank sends every other the address for that rank's block, so blocks may be anywhere.
  template <one_sided_transport Net>
  static task<> put_all(Net& net, call_id now, blocks<std::byte> all) {
    const auto at_distance = [&](int d) { return (net.rank() + d + net.size()) % net.size(); };
    const auto exposed = transfer::expose(net, all);
    const auto mine = all[net.rank()];
    for (int d = 1; d < net.size(); ++d) {
      const int from = at_distance(-d);
      const remote_region here = transfer::part_of(exposed.region(), all[from]);
      co_await net.send(from, now, transfer::bytes_of(here));
    }
    for (int d = 1; d < net.size(); ++d) {
      remote_region there;
      {
        const auto address = co_await net.receive(at_distance(d), now);
        there = transfer::read_region(net, at_distance(d), now, address, mine.size());
      }
      co_await net.put_notified(there, 0, exposed, mine, now);
    }
    for (int d = 1; d < net.size(); ++d) co_await net.notified(at_distance(-d), now);
    for (int d = 1; d < net.size(); ++d) co_await net.flush(at_distance(d), now);
    exposed.copy_back(all.layout());
  }
};

}  // namespace chorale::allgather
