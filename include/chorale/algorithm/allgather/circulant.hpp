// Allgather over a circulant graph.
#pragma once

#include <cstddef>
#include <vector>

#include <chorale/algorithm/allgather/within.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/topology/circulant.hpp>

namespace chorale::allgather {

/// As `bruck`, with the distances of a circulant graph instead of powers of two, so that no round moves more
/// than half of the blocks. Even and uneven blocks; those that do not lie one behind the other in the order
/// of the ranks are gathered in memory of the call. Long runs are zero copy. Cost: ceil(log2 n) rounds for
/// any n, n - 1 blocks.  Source: `topology::circulant`.
///
/// What is sent is never written again in this call; puts are announced and flushed as in
/// `recursive_doubling`.
struct circulant {
  static constexpr auto implements = operation::allgather;
  static constexpr bool uneven = true;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, blocks<std::byte> all) {
    return all.layout().is_packed() ? gather(net, now, all) : gather_apart(net, now, all);
  }

 private:
  template <mailbox_transport Net>
  static task<> gather(Net& net, call_id now, blocks<std::byte> all) {
    std::vector<within::step> steps;
    for (const auto round : topology::circulant{net.rank(), net.size()})
      steps.push_back({round.below, {net.rank(), round.blocks}, round.above, {round.above, round.blocks}});
    co_await within::run(net, now, all, steps, 0);
  }

  /// Where the blocks lie is this rank's own affair: the others need not have theirs there.
  template <mailbox_transport Net>
  static task<> gather_apart(Net& net, call_id now, blocks<std::byte> all) {
    std::vector<std::byte> memory(all.layout().total());
    const blocks<std::byte> gathered{memory, all.layout().packed()};
    copy(gathered[net.rank()], all[net.rank()]);
    co_await gather(net, now, gathered);
    for (int r = 0; r < net.size(); ++r)
      if (r != net.rank()) copy(all[r], gathered[r]);
  }
  static void copy(std::span<std::byte> to, std::span<const std::byte> from) noexcept {
    if (!from.empty()) copy_bytes(to.data(), from.data(), from.size());
  }
};

}  // namespace chorale::allgather
