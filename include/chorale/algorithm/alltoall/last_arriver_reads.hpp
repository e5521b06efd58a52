// SPDX-License-Identifier: Apache-2.0
// Last-arriver alltoall that reads the blocks in place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include <chorale/algorithm/alltoall/direct.hpp>
#include <chorale/algorithm/alltoall/straight.hpp>
#include <chorale/algorithm/host_slots.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::alltoall {

/// Each rank writes the address of its blocks into a slot shared by all ranks of the host; the last arriver
/// notifies all, and each rank reads its block from every other, its left neighbour first. So each byte is
/// copied once, as in `direct`, but addresses and synchronisation go through slots, without messages. Even
/// blocks. Short blocks, and all blocks where ranks do not share memory, use `direct`. Cost: n - 1 reads and
/// two atomic additions per rank, and two waits. Any n.
///
/// No rank leaves before all have read, so blocks may be changed after the call.
struct last_arriver_reads : over_mapped_memory {
  static constexpr auto implements = operation::alltoall;
  static constexpr bool uneven = false;
  template <class Net>
  static constexpr bool runs_on = mapping_transport<Net> && reading_transport<Net>;

  template <mapping_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> in, blocks<std::byte> out) {
    if (!alltoall::goes_straight(net, in.layout().largest()))
      return direct::run(net, now, std::move(in), std::move(out));
    return read_all(net, now, std::move(in), std::move(out));
  }

 private:
  template <mapping_transport Net>
  static task<> read_all(Net& net, call_id now, blocks<const std::byte> in, blocks<std::byte> out) {
    auto& host = net.template state<host_slots<Net>>();
    if (!host.is_decided()) [[unlikely]]
      co_await host.decide(net, now);
    if (!host.are_there()) [[unlikely]] {
      co_await direct::run(net, now, in, out);
      co_return;
    }
    auto& slots = host.slots();
    const auto offered = transfer::offer(net, in);
    const auto local = transfer::expose(net, out);
    const remote_region here = offered.region();
    slots.begin(now);
    std::memcpy(slots.mine(sizeof here), &here, sizeof here);
    if (co_await host.arrives_last(net, now)) slots.publish();
    for (int d = 1; d < net.size(); ++d) {
      const int from = (net.rank() - d + net.size()) % net.size();
      remote_region there;
      std::memcpy(&there, slots.of(from, sizeof there).data(), sizeof there);
      transfer::check_region(net, from, now, there, out.layout().total());
      const extent place = in.layout()[net.rank()];
      co_await net.get(there.part(there.address + place.offset, place.bytes), 0, local, out[from], now);
    }
    chorale::place_own(in[net.rank()], out[net.rank()]);
    slots.begin(now);
    if (co_await host.arrives_last(net, now)) slots.publish();
    local.copy_back();
  }
};

}  // namespace chorale::alltoall
