// Reductions of elements that are larger than a block, where no algorithm of blocks can take part.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include <chorale/algorithm/allreduce/rank_by_rank.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::calls {

/// `in` of all ranks reduced in rank order, into `out` at `root`.
struct reduce_by_rank {
  template <mailbox_transport Net>
  static task<> run(Net& net, epoch now, std::span<const std::byte> in, std::span<std::byte> out,
                    reduction op, int root) {
    std::vector<std::byte> work(in.begin(), in.end());
    co_await allreduce::rank_by_rank::run(net, now, work, op);
    if (net.rank() == root && !work.empty()) std::memmove(out.data(), work.data(), work.size());
  }
};

/// The same of blocks, of which each rank gets its own.
struct reduce_scatter_by_rank {
  template <mailbox_transport Net>
  static task<> run(Net& net, epoch now, blocks<const std::byte> in, std::span<std::byte> out, reduction op) {
    const auto all = in.buffer().first(in.layout().end());
    std::vector<std::byte> work(all.begin(), all.end());
    co_await allreduce::rank_by_rank::run(net, now, work, op);
    const auto mine = blocks<const std::byte>{work, in.layout()}[net.rank()];
    if (!mine.empty()) std::memmove(out.data(), mine.data(), mine.size());
  }
};

}  // namespace chorale::calls
