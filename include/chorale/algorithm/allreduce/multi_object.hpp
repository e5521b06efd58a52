// SPDX-License-Identifier: Apache-2.0
// Multi-object allreduce.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include <chorale/algorithm/allreduce/recursive_doubling.hpp>
#include <chorale/algorithm/levels.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/speakers.hpp>
#include <chorale/algorithm/start.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::allreduce {

/// The ranks of each place combine their operands by `In`. The speakers of each place exchange the results
/// with all other places, each speaker with some of them, and combine what they receive; a second `In`
/// combines these partial results among the speakers. Ranks that do not speak get the result by `Out`. All
/// places combine in the same order, so that all ranks get the same bits. The evaluation is in rank order if
/// the ranks of each place are neighbours; if they are not, `recursive_doubling` among all ranks serves
/// operators that do not commute. For short messages. Cost: two allreduces within a place, and between them
/// one step of P / c messages for each of c speakers, where P is the number of places; where not all ranks
/// speak, a broadcast within a place. Any assignment of ranks to places. Source: Huang et al. 2023
/// (multi-object interprocess collectives), with one step between places instead of one for each power of c +
/// 1.
template <class In, class Out>
struct multi_object : of_levels<In, Out> {
  static_assert(In::implements == operation::allreduce && Out::implements == operation::broadcast,
                "allreduce::multi_object<In, Out> is composed of an allreduce and a broadcast");
  static constexpr auto implements = operation::allreduce;

  /// `in`: this rank's operand; `out`: the result, of the same length, either `in` itself or not overlapping
  /// it.
  template <placed_transport Net>
  static task<> run(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                    reduction op) {
    if (!chorale::may_combine_by_places(net, op))
      return chorale::start<recursive_doubling>(net, now, in, out, op);
    return by_places(net, now, in, out, op);
  }

 private:
  template <placed_transport Net>
  static task<> by_places(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                          reduction op) {
    auto& inside = levels<Net>::of(net).inside();
    auto& ours = speakers<Net>::of(net);
    co_await chorale::start<In>(inside, now, in, out, op);
    if (ours.speaks()) {
      co_await exchange(net, now, ours, out, op);
      const std::span<const std::byte> share = out;
      co_await chorale::start<In>(ours.inside(), now.later(1), share, out, op);
    }
    if (!ours.are_all()) co_await Out::run(inside, now.later(2), out, 0);
  }

  /// `data`: initially the result of this rank's place, finally the combination of those of its partners'
  /// places.
  template <placed_transport Net>
  static task<> exchange(Net& net, call_id now, const speakers<Net>& ours, std::span<std::byte> data,
                         reduction op) {
    const std::size_t step = op.whole(net.block_bytes());
    const auto partners = ours.partners();
    // The first message overwrites the result of this rank's place, which must be combined later.
    const bool keeps_own = std::find(partners.begin() + 1, partners.end(), net.rank()) != partners.end();
    const auto own = chorale::scratch_of(net, keeps_own ? std::min(data.size(), step) : 0);
    for (const auto block : chunks{data, step}) {
      for (const int to : partners)
        if (to != net.rank()) co_await net.send(to, now, block);
      if (keeps_own) chorale::copy_bytes(own.memory().data(), block.data(), block.size());
      for (const int from : partners) {
        const bool is_first = from == partners.front();
        if (from == net.rank()) {
          if (!is_first) op.combine_left(block, own.memory().first(block.size()));
        } else {
          const auto message = co_await net.receive(from, now);
          if (is_first)
            transfer::place(net, from, now, message, block);
          else
            op.combine_left(block, transfer::exact(net, from, now, message, block.size()));
        }
      }
    }
  }
};

}  // namespace chorale::allreduce
