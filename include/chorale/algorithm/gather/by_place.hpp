// SPDX-License-Identifier: Apache-2.0
// Gather in which each place sends its short blocks together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/algorithm/agreed.hpp>
#include <chorale/algorithm/gather/flat.hpp>
#include <chorale/algorithm/joint_blocks.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/places.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::gather {

/// Even and uneven blocks, whose sizes only the root and their own ranks know. A rank of another place
/// than the root's tells its leader the size of its block, and gives it the block if that is short. The
/// leader sends the root all these sizes, which the root checks, and then all short blocks together. Long
/// blocks go straight to the root, and so do those of its own place and of places of one rank. Cost at the
/// root: for each other place of several ranks, its sizes and its short blocks (two messages, if each fits
/// into a block of the transport); and a message for every other block. Any assignment of ranks to places;
/// uses `flat` where `joins_blocks` is false.
struct by_place {
  static constexpr auto implements = operation::gather;
  static constexpr bool uneven = true;
  /// With fewer places `flat` is faster, since all messages to the root are under way at the same time.
  static constexpr int least_places = 8;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<const std::byte> mine, blocks<std::byte> all, int root) {
    if constexpr (placed_transport<Net>) {
      if (chorale::joins_blocks(net, least_places)) {
        if (net.rank() == root) return take_all(net, now, mine, std::move(all));
        return give(net, now, mine, root);
      }
    }
    return flat::run(net, now, mine, std::move(all), root);
  }

  /// Which algorithm runs over `net`, this one or `flat`, and why.
  template <mailbox_transport Net>
  static std::string explain(const Net& net, std::size_t) {
    return chorale::explain_joining(net, least_places);
  }

 private:
  template <placed_transport Net>
  static task<> give(Net& net, call_id now, std::span<const std::byte> mine, int root) {
    const joint_blocks which{net, root};
    const int place = net.layout().of(net.rank());
    if (which.joins(place)) {
      const int leader = net.layout().members(place).front();
      const auto joint = mine.first(which.joint_bytes(mine.size()));
      agreed::sealed seal;
      if (net.rank() == leader)
        co_await give_joint(net, now, which, mine.size(), joint, root);
      else
        co_await net.send(leader, now, seal({.sends = mine.size()}, {}, joint));
    }
    if (which.goes_straight(place, mine.size())) co_await agreed::send(net, root, now, mine);
  }

  /// The leader's part: sends the sizes and short blocks of its place. `size`, `joint`: the bytes of its own
  /// block, and the block itself if it is short.
  template <placed_transport Net>
  static task<> give_joint(Net& net, call_id now, const joint_blocks& which, std::size_t size,
                           std::span<const std::byte> joint, int root) {
    const int place = net.layout().of(net.rank());
    const auto room = chorale::scratch_of(net, which.room(place));
    joined all{room.memory()};
    all.add(size, joint);
    for (const int member : net.layout().members(place).subspan(1)) {
      const auto message = co_await net.receive(member, now);
      const auto [theirs, data] = agreed::unseal(net, member, now, message);
      const std::size_t expected = which.joint_bytes(theirs.sends);
      if (data.size() != expected)
        chorale::throw_unequal_sizes(net, now, net.rank(), expected, member, data.size());
      all.add(theirs.sends, data);
    }
    co_await transfer::send(net, root, now, all.sizes());
    if (!all.data().empty()) co_await transfer::send(net, root, now, all.data());
  }

  /// The root's part.
  template <placed_transport Net>
  static task<> take_all(Net& net, call_id now, std::span<const std::byte> mine, blocks<std::byte> all) {
    const joint_blocks which{net, net.rank()};
    chorale::place_own(mine, all[net.rank()]);
    for (int place = 0; place < net.layout().count(); ++place) {
      if (which.joins(place)) co_await take_joint(net, now, which, place, all);
      for (const int member : net.layout().members(place)) {
        if (member != net.rank() && which.goes_straight(place, all[member].size()))
          co_await agreed::receive(net, member, now, all[member]);
      }
    }
  }
  /// Receives what the leader of a place sends.
  template <placed_transport Net>
  static task<> take_joint(Net& net, call_id now, const joint_blocks& which, int place,
                           const blocks<std::byte>& all) {
    const auto members = net.layout().members(place);
    std::vector<std::uint64_t> sizes(members.size());
    co_await transfer::receive(net, members.front(), now, std::as_writable_bytes(std::span{sizes}));
    std::size_t total = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::size_t expected = all[members[i]].size();
      if (sizes[i] != expected)
        chorale::throw_unequal_sizes(net, now, net.rank(), expected, members[i], sizes[i]);
      total += which.joint_bytes(expected);
    }
    if (total == 0) co_return;
    const auto adjoining = which.adjoining(all, members);
    const auto aside = chorale::scratch_of(net, adjoining.empty() ? total : 0);
    co_await transfer::receive(net, members.front(), now, adjoining.empty() ? aside.memory() : adjoining);
    if (!adjoining.empty()) co_return;
    std::span<const std::byte> rest = aside.memory();
    for (const int member : members) {
      const auto block = all[member].first(which.joint_bytes(all[member].size()));
      chorale::move_bytes(block, rest.first(block.size()));
      rest = rest.subspan(block.size());
    }
  }
};

}  // namespace chorale::gather
