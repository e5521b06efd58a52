// Pairwise exchange alltoall.
#pragma once

#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/topology/all_pairs.hpp>

namespace chorale::alltoall {

/// n - 1 steps, in each of which every rank is the target of one: the partner of step i is rank xor i where n
/// is a power of two, else blocks go to rank + i and come from rank - i. Even and uneven blocks. Cost: n - 1
/// messages a rank, one after the other; zero copy above the transport's threshold, with one registration and
/// one small message a pair, which says where the block goes. Best for long messages.
/// Source: P5 section 2.
///
/// Each place of `out` is written by one step, and straight only when that step has told the writer where.
/// The call is over when its own puts have been placed.
struct pairwise {
  static constexpr auto implements = operation::alltoall;
  static constexpr bool uneven = true;
  template <class T>
  static constexpr bool runs_on = mailbox_transport<T>;

  template <mailbox_transport Net>
  static task<> run(Net& net, epoch now, blocks<const std::byte> in, blocks<std::byte> out) {
    const topology::all_pairs pairs{net.rank(), net.size()};
    if constexpr (one_sided_transport<Net>) {
      const bool offers = transfer::is_zero_copy(net, out.layout().largest());
      const bool puts = transfer::is_zero_copy(net, in.layout().largest());
      if (offers || puts) {
        const auto exposed = net.expose(offers ? out.buffer() : out.buffer().first(0));
        const auto lent = net.lend(puts ? in.buffer() : in.buffer().first(0));
        for (const auto step : pairs) {
          co_await transfer::exchange_within(net, now, step.to, in[step.to], lent, step.from, out[step.from],
                                             exposed.region());
        }
        for (const auto step : pairs) co_await net.flush(step.to, now);
        co_return;
      }
    }
    for (const auto step : pairs)
      co_await transfer::copy(net, now, step.to, in[step.to], step.from, out[step.from]);
  }
};

}  // namespace chorale::alltoall
