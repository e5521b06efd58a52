// Pairwise exchange alltoall.
#pragma once

#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/topology/all_pairs.hpp>

namespace chorale::alltoall {

/// n - 1 steps, in each of which every rank is the target of one: the partner of step i is rank xor i where n
/// is a power of two, else blocks go to rank + i and come from rank - i. Even and uneven blocks. Cost: n - 1
/// messages a rank, one after the other; zero copy above the transport's threshold. Best for long messages.
/// Source: P5 section 2.
struct pairwise {
  static constexpr auto implements = operation::alltoall;
  static constexpr bool uneven = true;
  template <class T>
  static constexpr bool runs_on = mailbox_transport<T>;

  template <mailbox_transport Net>
  static task<> run(Net& net, epoch now, blocks<const std::byte> in, blocks<std::byte> out) {
    for (const auto step : topology::all_pairs{net.rank(), net.size()}) {
      co_await transfer::exchange(net, now, step.to, in[step.to], step.from, out[step.from]);
    }
  }
};

}  // namespace chorale::alltoall
