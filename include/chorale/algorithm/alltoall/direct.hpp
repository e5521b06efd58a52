// SPDX-License-Identifier: Apache-2.0
// Direct alltoall: RDMA writes with immediate into the receivers' buffers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include <chorale/algorithm/agreed.hpp>
#include <chorale/algorithm/alltoall/addresses.hpp>
#include <chorale/algorithm/alltoall/straight.hpp>
#include <chorale/algorithm/copy_among_all.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>

namespace chorale::alltoall {

/// Message i goes to (rank + i) mod n. Blocks of at least `config::alltoall_zero_copy_bytes` are put into the
/// receiver's buffer and announced by immediate data: a rank has finished when it has n - 1 notices, in any
/// order. Shorter blocks are copied through the mailbox. Even and uneven blocks. Cost: n - 1 messages per
/// rank, preceded for even blocks by ceil(log2 n) small messages with the receive-buffer addresses that
/// changed since the last call (empty if none did), for uneven blocks by n - 1 envelopes (`agreed.hpp`), even
/// for empty blocks. Source: P5 section 4.1.
///
/// No rank is written to before it has entered this call: the preceding messages show that it has, even if
/// they are empty. A rank leaves when all its blocks have been announced and its own puts have been flushed.
struct direct {
  static constexpr auto implements = operation::alltoall;
  static constexpr bool uneven = true;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> in, blocks<std::byte> out) {
    // All ranks know the sizes of even blocks; uneven sizes are known only to the two ranks concerned.
    if (now.has_private_sizes()) return move_uneven(net, now, in, out);
    if constexpr (one_sided_transport<Net>) {
      if (alltoall::goes_straight(net, in.layout().largest())) return put_even(net, now, in, out);
    }
    chorale::place_own(in[net.rank()], out[net.rank()]);
    const std::size_t most = std::max(in.layout().largest(), out.layout().largest());
    return transfer::copy_among_all(
        net, now, most, [in = std::move(in)](int r) { return in[r]; },
        [out = std::move(out)](int r) { return out[r]; });
  }

 private:
  template <mailbox_transport Net>
  static int at_distance(const Net& net, int distance) {
    return (net.rank() + distance + net.size()) % net.size();
  }

  template <one_sided_transport Net>
  static task<> put_even(Net& net, call_id now, blocks<const std::byte> in, blocks<std::byte> out) {
    const auto exposed = transfer::expose(net, out);
    const auto lent = transfer::lend(net, in.buffer());
    auto& known = net.template state<addresses>();
    co_await known.refresh(net, now, exposed.region());
    for (int d = 1; d < net.size(); ++d) {
      const int to = at_distance(net, d);
      co_await net.put_notified(known.of(net, to, now, out.layout(), net.rank()), 0, lent,
                                lent.current(in[to]), now);
    }
    chorale::place_own(in[net.rank()], out[net.rank()]);
    for (int d = 1; d < net.size(); ++d) co_await net.notified(at_distance(net, -d), now);
    for (int d = 1; d < net.size(); ++d) co_await net.flush(at_distance(net, d), now);
    exposed.copy_back();
  }

  /// Each pair of ranks agrees on sizes by one envelope in each direction; every rank sends all its envelopes
  /// before it waits for any.
  template <mailbox_transport Net>
  static task<> move_uneven(Net& net, call_id now, blocks<const std::byte> in, blocks<std::byte> out) {
    const auto straight = [&](std::size_t bytes) { return alltoall::goes_straight(net, bytes); };
    const auto first = [&](std::size_t bytes) {
      return straight(bytes) ? std::size_t{0} : agreed::first_bytes(net, bytes);
    };
    const auto share_of = [&](int r) { return agreed::share{in[r].size(), out[r].size()}; };
    const bool is_exposed = straight(out.layout().largest());
    auto arrivals = out.buffer().first(is_exposed ? out.layout().end() : 0);
    const bool is_lent = straight(in.layout().largest());
    const agreed::memory<Net> memory{net, is_lent ? in.buffer() : in.buffer().first(0), arrivals};
    if (is_exposed) out = {arrivals, out.layout()};
    agreed::sealed seal;
    for (int d = 1; d < net.size(); ++d) {
      const int to = at_distance(net, d);
      const remote_region here = straight(out[to].size()) ? memory.part(out[to]) : remote_region{};
      co_await net.send(to, now, seal(share_of(to), here, in[to].first(first(in[to].size()))));
    }
    chorale::place_own(in[net.rank()], out[net.rank()]);
    for (int d = 1; d < net.size(); ++d) {
      const int peer = at_distance(net, -d);
      remote_region there;
      {
        const auto message = co_await net.receive(peer, now);
        const auto theirs = agreed::open(net, peer, now, message, share_of(peer), first(out[peer].size()));
        agreed::place_first(theirs, out[peer]);
        there = theirs.place;
      }
      if (straight(in[peer].size())) co_await memory.put(net, peer, now, there, in[peer]);
    }
    const auto rest = [&](auto block) {
      return straight(block.size()) ? block.first(0) : block.subspan(first(block.size()));
    };
    std::size_t most = 0;
    for (int r = 0; r < net.size(); ++r) most = std::max({most, rest(in[r]).size(), rest(out[r]).size()});
    co_await transfer::copy_among_all(
        net, now, most, [&](int r) { return rest(in[r]); }, [&](int r) { return rest(out[r]); });
    for (int d = 1; is_exposed && d < net.size(); ++d)
      if (straight(out[at_distance(net, -d)].size()))
        co_await memory.notified(net, at_distance(net, -d), now);
    for (int d = 1; is_lent && d < net.size(); ++d)
      if (straight(in[at_distance(net, d)].size())) co_await memory.flush(net, at_distance(net, d), now);
    memory.copy_back(out.layout());
  }
};

}  // namespace chorale::alltoall
