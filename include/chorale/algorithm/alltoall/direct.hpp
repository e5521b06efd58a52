// Direct alltoall: RDMA writes with immediate into the receivers' buffers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include <chorale/algorithm/alltoall/addresses.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>

namespace chorale::alltoall {

/// Message i goes to (rank + i) mod n, straight into the receiver's buffer above the transport's threshold,
/// and its immediate data announces it: a rank is done with n - 1 notices, in no order that it would have to
/// wait for. Even and uneven blocks. Cost: n - 1 messages a rank; for even blocks ceil(log2 n) small ones
/// before, which carry the addresses of the receive buffers where those changed since the last call, and are
/// empty else; for uneven ones n - 1, each with the place of one block. Shorter blocks are copied through the
/// mailbox.  Source: P5 section 4.1.
///
/// No rank is written to before it is in this call: the messages before say that it is, even if nothing
/// changed. It leaves when all for it has been announced and its own puts have been placed.
struct direct {
  static constexpr auto implements = operation::alltoall;
  static constexpr bool uneven = true;
  template <class T>
  static constexpr bool runs_on = mailbox_transport<T>;

  template <mailbox_transport Net>
  static task<> run(Net& net, epoch now, blocks<const std::byte> in, blocks<std::byte> out) {
    if constexpr (one_sided_transport<Net>) {
      const bool even = in.layout().is_even();
      // Even blocks are known to all; of uneven ones each pair of ranks knows those between them.
      if (even && transfer::is_zero_copy(net, in.layout().largest())) return put_even(net, now, in, out);
      if (!even) return put_uneven(net, now, in, out);
    }
    return copy_all(net, now, in, out, false);
  }

 private:
  template <mailbox_transport Net>
  static int at_distance(const Net& net, int distance) {
    return (net.rank() + distance + net.size()) % net.size();
  }

  /// Chunk by chunk, all sends before all receives, so that at most two chunks of a pair are under way and no
  /// rank waits for another's free blocks. `short_only`: leaves out what is zero copy.
  template <mailbox_transport Net>
  static task<> copy_all(Net& net, epoch now, blocks<const std::byte> in, blocks<std::byte> out,
                         bool short_only) {
    const auto copied = [&](std::size_t bytes) {
      return short_only && transfer::is_zero_copy(net, bytes) ? std::size_t{0} : bytes;
    };
    std::size_t most = 0;
    for (int r = 0; r < net.size(); ++r) most = std::max({most, copied(in[r].size()), copied(out[r].size())});
    const std::size_t step = net.block_bytes();
    for (std::size_t at = 0; at < most; at += step) {
      for (int d = 1; d < net.size(); ++d) {
        const auto block = in[at_distance(net, d)];
        if (at < copied(block.size()))
          co_await net.send(at_distance(net, d), now, block.subspan(at, std::min(step, block.size() - at)));
      }
      for (int d = 1; d < net.size(); ++d) {
        const auto block = out[at_distance(net, -d)];
        if (at >= copied(block.size())) continue;
        auto message = co_await net.receive(at_distance(net, -d), now);
        std::memcpy(block.data() + at, message.bytes().data(), message.bytes().size());
      }
    }
  }

  template <one_sided_transport Net>
  static task<> put_even(Net& net, epoch now, blocks<const std::byte> in, blocks<std::byte> out) {
    const auto exposed = net.expose(out.buffer());
    const auto lent = net.lend(in.buffer());
    addresses fresh;
    addresses& known = addresses_of(net, fresh);
    co_await known.refresh(net, now, exposed.region());
    const std::size_t mine = out.layout()[net.rank()].offset;
    for (int d = 1; d < net.size(); ++d) {
      const int to = at_distance(net, d);
      co_await net.put_notified(known.of(to), mine, lent, in[to], now);
    }
    for (int d = 1; d < net.size(); ++d) co_await net.notified(at_distance(net, -d), now);
    for (int d = 1; d < net.size(); ++d) co_await net.flush(at_distance(net, d), now);
  }

  template <one_sided_transport Net>
  static task<> put_uneven(Net& net, epoch now, blocks<const std::byte> in, blocks<std::byte> out) {
    const auto goes_straight = [&](std::size_t bytes) { return transfer::is_zero_copy(net, bytes); };
    const auto exposed =
        net.expose(goes_straight(out.layout().largest()) ? out.buffer() : out.buffer().first(0));
    const auto lent = net.lend(goes_straight(in.layout().largest()) ? in.buffer() : in.buffer().first(0));
    for (int d = 1; d < net.size(); ++d) {
      const int from = at_distance(net, -d);
      if (!goes_straight(out[from].size())) continue;
      const remote_region here = transfer::part_of(exposed.region(), out[from]);
      co_await net.send(from, now, transfer::bytes_of(here));
    }
    for (int d = 1; d < net.size(); ++d) {
      const int to = at_distance(net, d);
      if (!goes_straight(in[to].size())) continue;
      remote_region there;
      {
        auto address = co_await net.receive(to, now);
        there = transfer::read_region(address.bytes());
      }
      co_await net.put_notified(there, 0, lent, in[to], now);
    }
    // A pair's address comes before what is copied between them, so they are not mixed up.
    co_await copy_all(net, now, in, out, true);
    for (int d = 1; d < net.size(); ++d) {
      const int from = at_distance(net, -d);
      if (goes_straight(out[from].size())) co_await net.notified(from, now);
    }
    for (int d = 1; d < net.size(); ++d) {
      const int to = at_distance(net, d);
      if (goes_straight(in[to].size())) co_await net.flush(to, now);
    }
  }
};

}  // namespace chorale::alltoall
