// SPDX-License-Identifier: Apache-2.0
// Scatter and allgather broadcast.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include <chorale/algorithm/allgather/ring.hpp>
#include <chorale/algorithm/even_shares.hpp>
#include <chorale/algorithm/scatter/fetch.hpp>
#include <chorale/algorithm/scatter/flat.hpp>

namespace chorale::broadcast {

/// The root scatters the message, one share to each rank, and a ring allgather collects the shares: each rank
/// but the root sends about as many bytes as the message has, the root at most twice as many. Cost: 2 (n - 1)
/// messages of a share. For long messages on large groups. Source: van de Geijn; the ring of P4 section 2.3.
struct scatter_allgather {
  static constexpr auto implements = operation::broadcast;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, int root) {
    const auto layout = chorale::even_shares(net.size(), data.size(), 64);
    const blocks<std::byte> shares{data, layout};
    co_await scattering<Net>::run(net, now, blocks<const std::byte>{data, layout}, shares[net.rank()], root);
    co_await allgather::ring::run(net, now, shares);
  }

 private:
  template <class Net>
  using scattering = std::conditional_t<reading_transport<Net>, scatter::fetch, scatter::flat>;
};

}  // namespace chorale::broadcast
