// SPDX-License-Identifier: Apache-2.0
// Scatter in which each place gets its short blocks together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/algorithm/agreed.hpp>
#include <chorale/algorithm/joint_blocks.hpp>
#include <chorale/algorithm/scatter/flat.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/places.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::scatter {

/// Even and uneven blocks, whose sizes only the root and their own ranks know. The root sends the leader
/// of each other place the sizes of all blocks of that place, and then all short blocks together. The
/// leader tells each rank its size, which that rank checks, and gives it its block if that is short. Long
/// blocks go straight from the root, and so do those of its own place and of places of one rank. Cost at the
/// root: for each other place of several ranks, its sizes and its short blocks (two messages, if each fits
/// into a block of the transport); and a message for every other block. Any assignment of ranks to places;
/// uses `flat` where `joins_blocks` is false.
struct by_place {
  static constexpr auto implements = operation::scatter;
  static constexpr bool uneven = true;
  /// With fewer places `flat` is as fast.
  static constexpr int least_places = 4;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> all, std::span<std::byte> mine, int root) {
    if constexpr (placed_transport<Net>) {
      if (chorale::joins_blocks(net, least_places)) {
        if (net.rank() == root) return give_all(net, now, std::move(all), mine);
        return take(net, now, mine, root);
      }
    }
    return flat::run(net, now, std::move(all), mine, root);
  }

  /// Which algorithm runs over `net`, this one or `flat`, and why.
  template <mailbox_transport Net>
  static std::string explain(const Net& net, std::size_t) {
    return chorale::explain_joining(net, least_places);
  }

 private:
  /// The root's part: sends first what leaders pass on, then what goes straight.
  template <placed_transport Net>
  static task<> give_all(Net& net, call_id now, blocks<const std::byte> all, std::span<std::byte> mine) {
    const joint_blocks which{net, net.rank()};
    const places& where = net.layout();
    for (int place = 0; place < where.count(); ++place) {
      if (which.joins(place)) co_await give_joint(net, now, which, place, all);
    }
    for (int place = 0; place < where.count(); ++place) {
      for (const int member : where.members(place)) {
        if (member != net.rank() && which.goes_straight(place, all[member].size()))
          co_await agreed::send(net, member, now, all[member]);
      }
    }
    chorale::place_own(all[net.rank()], mine);
  }
  /// Sends the leader of a place the sizes and short blocks of its ranks.
  template <placed_transport Net>
  static task<> give_joint(Net& net, call_id now, const joint_blocks& which, int place,
                           const blocks<const std::byte>& all) {
    const auto members = net.layout().members(place);
    const auto adjoining = which.adjoining(all, members);
    const auto room = chorale::scratch_of(net, adjoining.empty() ? which.room(place) : 0);
    joined joint{room.memory()};
    for (const int member : members) {
      const auto block = all[member];
      joint.add(block.size(), block.first(adjoining.empty() ? which.joint_bytes(block.size()) : 0));
    }
    const auto data = adjoining.empty() ? joint.data() : adjoining;
    co_await transfer::send(net, members.front(), now, joint.sizes());
    if (!data.empty()) co_await transfer::send(net, members.front(), now, data);
  }

  template <placed_transport Net>
  static task<> take(Net& net, call_id now, std::span<std::byte> mine, int root) {
    const joint_blocks which{net, root};
    const int place = net.layout().of(net.rank());
    if (which.joins(place)) {
      const int leader = net.layout().members(place).front();
      const auto joint = mine.first(which.joint_bytes(mine.size()));
      if (net.rank() == leader) {
        co_await hand_out(net, now, which, mine.size(), joint, root);
      } else {
        const auto message = co_await net.receive(leader, now);
        // The size is that given by the root, so an error names the root.
        agreed::place_first(agreed::open(net, root, now, message, {.takes = mine.size()}, joint.size()),
                            joint);
      }
    }
    if (which.goes_straight(place, mine.size())) co_await agreed::receive(net, root, now, mine);
  }
  /// The leader's part: receives the sizes and short blocks of its place and passes them on. `size`, `joint`:
  /// the bytes of its own block, and the block itself if it is short.
  template <placed_transport Net>
  static task<> hand_out(Net& net, call_id now, const joint_blocks& which, std::size_t size,
                         std::span<std::byte> joint, int root) {
    const auto members = net.layout().members(net.layout().of(net.rank()));
    std::vector<std::uint64_t> sizes(members.size());
    co_await transfer::receive(net, root, now, std::as_writable_bytes(std::span{sizes}));
    std::size_t total = 0;
    for (const std::uint64_t one : sizes) total += which.joint_bytes(one);
    const auto aside = chorale::scratch_of(net, total);
    if (total != 0) co_await transfer::receive(net, root, now, aside.memory());
    std::span<const std::byte> rest = aside.memory();
    agreed::sealed seal;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto block = rest.first(which.joint_bytes(sizes[i]));
      rest = rest.subspan(block.size());
      if (i != 0)
        co_await net.send(members[i], now, seal({.sends = sizes[i]}, {}, block));
      else if (sizes[0] == size)
        chorale::move_bytes(joint, block);
    }
    // This rank fails only after it has served the other ranks.
    if (sizes[0] != size) chorale::throw_unequal_sizes(net, now, net.rank(), size, root, sizes[0]);
  }
};

}  // namespace chorale::scatter
