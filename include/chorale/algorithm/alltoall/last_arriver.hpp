// SPDX-License-Identifier: Apache-2.0
// Last-arriver alltoall.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include <chorale/algorithm/alltoall/direct.hpp>
#include <chorale/algorithm/host_slots.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/cache_lines.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/result_copy.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::alltoall {

/// Each rank writes its blocks side by side into its own slot, in memory shared by all ranks of the host; the
/// last arriver notifies all, and each rank copies its blocks out of all slots. So each byte is copied twice,
/// staying in a cache in between. A single copy by the kernel costs more, since it has to look up and pin
/// every page of the peer. Even blocks. `direct` is used where ranks do not share memory, or if so many ranks
/// share a slot that each has less than a cache line. Cost: for each part that fits into a slot, 2 (n - 1)
/// copies and one atomic addition per rank, and a wait. Any n.
///
/// A slot is not overwritten before all ranks have arrived at the next part, and so have read this one; only
/// this rank writes `out`.
struct last_arriver : over_mapped_memory {
  static constexpr auto implements = operation::alltoall;
  static constexpr bool uneven = false;
  template <class Net>
  static constexpr bool runs_on = mapping_transport<Net>;

  template <mapping_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> in, blocks<std::byte> out) {
    const std::size_t all = in_cache_lines(in.layout().largest()) * static_cast<std::size_t>(net.size());
    if (all > net.block_bytes()) return through<long_slots>(net, now, std::move(in), std::move(out));
    return through<block_slots>(net, now, std::move(in), std::move(out));
  }

 private:
  template <class Size, mapping_transport Net>
  static task<> through(Net& net, call_id now, blocks<const std::byte> in, blocks<std::byte> out) {
    auto& host = net.template state<host_slots<Net, Size>>();
    if (!host.is_decided()) [[unlikely]]
      co_await host.decide(net, now);
    auto& slots = host.slots();
    const auto ranks = static_cast<std::size_t>(net.size());
    // A slot holds the same number of bytes of each block, side by side, aligned to cache lines if they fill
    // a line.
    const std::size_t most = slots.slot_bytes() / ranks / cache_line_bytes * cache_line_bytes;
    if (!host.are_there() || most == 0) [[unlikely]] {
      co_await direct::run(net, now, in, out);
      co_return;
    }
    chorale::place_own(in[net.rank()], out[net.rank()]);
    const std::size_t bytes = in.layout().largest();
    const std::size_t step = chorale::part_bytes(bytes, most);
    const std::size_t room = step < cache_line_bytes ? step : in_cache_lines(step);
    const std::size_t all = room * ranks;
    const auto place_of = [room](int rank) { return room * static_cast<std::size_t>(rank); };
    const result_copy place{in.layout().total() + out.layout().total(), net.size()};
    for (std::size_t at = 0; at < bytes; at += step) {
      const std::size_t length = std::min(step, bytes - at);
      slots.begin(now);
      for (int d = 1; d < net.size(); ++d) {
        const int to = (net.rank() + d) % net.size();
        chorale::copy_bytes(slots.mine(all) + place_of(to), in[to].data() + at, length);
      }
      if (co_await host.arrives_last(net, now)) slots.publish();
      for (int d = 1; d < net.size(); ++d) {
        const int from = (net.rank() - d + net.size()) % net.size();
        place(out[from].data() + at, slots.of(from, all).data() + place_of(net.rank()), length);
      }
    }
  }
};

}  // namespace chorale::alltoall
