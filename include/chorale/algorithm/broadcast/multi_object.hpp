// SPDX-License-Identifier: Apache-2.0
// Multi-object broadcast.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/levels.hpp>
#include <chorale/algorithm/speakers.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/core/places.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::broadcast {

/// The root sends the message to the ranks of its place by `In`; the speakers of that place send it to all
/// other places, each to some of them, in blocks of the mailbox; and `In` distributes it within each of
/// these. For short messages. Cost: two broadcasts within a place, and between them one step of P / c
/// messages for each of c speakers, where P is the number of places. Any assignment of ranks to places.
/// Source: Huang et al. 2023 (multi-object interprocess collectives), with one step between places instead of
/// one for each power of c + 1.
template <class In>
struct multi_object : of_levels<In> {
  static_assert(In::implements == operation::broadcast,
                "broadcast::multi_object<In> is composed of a broadcast");
  static constexpr auto implements = operation::broadcast;

  template <placed_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, int root) {
    auto& inside = levels<Net>::of(net).inside();
    const auto& ours = speakers<Net>::of(net);
    const placed_root to{net.layout(), net.rank(), root};
    const int entry = to.is_near ? to.number : ours.speaker_to(to.place);
    if (!to.is_near && inside.rank() == entry) {
      const int from = ours.partner(to.place);
      for (const auto block : chunks{data, net.block_bytes()}) {
        const auto message = co_await net.receive(from, now);
        transfer::place(net, from, now, message, block);
      }
    }
    co_await In::run(inside, now, data, entry);
    if (!to.is_near) co_return;
    for (const auto block : chunks{data, net.block_bytes()})
      for (const int peer : ours.partners())
        if (peer != net.rank()) co_await net.send(peer, now, block);
  }
};

}  // namespace chorale::broadcast
