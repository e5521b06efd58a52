// SPDX-License-Identifier: Apache-2.0
// Ring allgather.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/topology/ring.hpp>

namespace chorale::allgather {

/// In each step a rank sends the block it received last to its right neighbour and receives another from its
/// left. Even and uneven blocks. Zero copy above the transport's threshold, with one registration and one
/// exchange of addresses for the whole operation. With zero copy a block is forwarded segment by segment as
/// it arrives, so that a large block among small ones does not hold up the ring. Cost: n - 1 steps of one
/// block. Best for long messages on large groups. Source: P4 sections 2.3 and 4.3, T = (p - 1) (ts + m tw).
///
/// A block is written only by the step that receives it, so none is overwritten while it is still read. The
/// left neighbour puts into `all` only after this call has sent it the address; the call ends when all blocks
/// have arrived and its own puts have been flushed.
struct ring {
  static constexpr auto implements = operation::allgather;
  static constexpr bool uneven = true;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;
  /// Bytes of a segment of a long block.
  static constexpr std::size_t segment_bytes = std::size_t{1} << 19;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, blocks<std::byte> all) {
    if constexpr (one_sided_transport<Net>) {
      // All ranks know all sizes, so they make the same choice.
      if (net.size() > 1 && transfer::is_zero_copy(net, all.layout().largest())) {
        co_await put_around(net, now, all);
        co_return;
      }
    }
    for (const auto step : topology::ring{net.rank(), net.size()})
      co_await transfer::copy(net, now, step.to, all[step.send_block], step.from, all[step.receive_block]);
  }

 private:
  template <one_sided_transport Net>
  static task<> put_around(Net& net, call_id now, blocks<std::byte> all) {
    const topology::ring around{net.rank(), net.size()};
    const auto exposed = transfer::expose(net, all);
    const remote_region here = exposed.region();
    co_await net.send(around.left(), now, transfer::bytes_of(here));
    std::vector<std::uint64_t> places(static_cast<std::size_t>(net.size()));
    for (int r = 0; r < net.size(); ++r) places[static_cast<std::size_t>(r)] = all.layout()[r].offset;
    // Even blocks have the same offsets on all ranks.
    const bool told = !all.layout().is_even();
    const std::vector<std::uint64_t> own = places;
    remote_region there;
    {
      const auto address = co_await net.receive(around.right(), now);
      there = transfer::read_place(net, around.right(), now, address);
    }
    if (told)
      co_await transfer::copy(net, now, around.left(), std::as_bytes(std::span{own}), around.right(),
                              std::as_writable_bytes(std::span{places}));
    for (int r = 0; r < net.size(); ++r) {
      const std::size_t at = places[static_cast<std::size_t>(r)];
      if (r == around.right() || (at <= there.bytes && all[r].size() <= there.bytes - at)) continue;
      chorale::throw_unequal_sizes(net, now, around.right(), there.bytes, net.rank(), at + all[r].size());
    }
    int arriving = -1;
    for (const auto step : around) {
      std::size_t at = places[static_cast<std::size_t>(step.send_block)];
      for (const auto segment : chunks{all[step.send_block], segment_bytes}) {
        if (arriving >= 0) co_await net.notified(step.from, now);
        co_await net.put_notified(there, at, exposed, segment, now);
        at += segment.size();
      }
      arriving = step.receive_block;
    }
    for (std::size_t at = 0; at < all[arriving].size(); at += segment_bytes)
      co_await net.notified(around.left(), now);
    co_await net.flush(around.right(), now);
    exposed.copy_back(all.layout());
  }
};

}  // namespace chorale::allgather
