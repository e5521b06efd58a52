// SPDX-License-Identifier: Apache-2.0
// Ring allreduce.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/allgather/ring.hpp>
#include <chorale/algorithm/allreduce/rabenseifner.hpp>
#include <chorale/algorithm/even_shares.hpp>
#include <chorale/algorithm/reduce_exchange.hpp>
#include <chorale/topology/arithmetic.hpp>

namespace chorale::allreduce {

/// The message is divided into one share per rank. Shares travel once around the ring to collect the
/// operands, then once more as results. Cost: 2 (n - 1) steps of a share, in all less than twice the message
/// in each direction for any n. For long messages on large groups.
///
/// Share s is evaluated from rank s upwards, around the ring: ((x_s op x_s+1) op ...) op x_s-1, with the same
/// bits on every rank. This is not rank order; operators that do not commute (`chorale::commutes`) are
/// evaluated by `rabenseifner` instead.
struct ring {
  static constexpr auto implements = operation::allreduce;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, reduction op) {
    if (!op.commutes()) return rabenseifner::run(net, now, data, op);
    return around(net, now, data, op);
  }

 private:
  template <mailbox_transport Net>
  static task<> around(Net& net, call_id now, std::span<std::byte> data, reduction op) {
    const int n = net.size();
    const int left = topology::wrap(net.rank() - 1, n);
    const int right = topology::wrap(net.rank() + 1, n);
    const auto layout = even_shares(n, data.size(), op.element_bytes());
    const blocks<std::byte> shares{data, layout};
    for (int step = 0; step < n - 1; ++step) {
      const auto out = shares[topology::wrap(net.rank() - step, n)];
      const auto mine = shares[topology::wrap(net.rank() - step - 1, n)];
      co_await chorale::exchange_and_combine(net, now, right, out, left, mine, true, op);
    }
    // Rank r has the result of share r + 1, so the layout for the allgather assigns each share to the rank
    // before.
    std::vector<extent> owned(static_cast<std::size_t>(n));
    for (int r = 0; r < n; ++r) owned[static_cast<std::size_t>(r)] = layout[topology::wrap(r + 1, n)];
    co_await allgather::ring::run(net, now, blocks<std::byte>{data, block_layout::uneven(std::move(owned))});
  }
};

}  // namespace chorale::allreduce
