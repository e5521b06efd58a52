// SPDX-License-Identifier: Apache-2.0
// Direct exchange: each message goes from its sender to its receiver.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <chorale/algorithm/exchange/learned_threshold.hpp>
#include <chorale/algorithm/exchange/neighbour.hpp>
#include <chorale/algorithm/exchange/one_piece.hpp>
#include <chorale/algorithm/exchange/straight.hpp>
#include <chorale/algorithm/exchange/strided_messages.hpp>
#include <chorale/core/neighbours.hpp>

namespace chorale::exchange {

/// Lists and memory of an exchange, kept for the next call, so that repeated calls do not allocate.
struct workspace {
  std::vector<outgoing> sends;     ///< sorted by distance of the peers, unless the call's list is
  std::vector<incoming> takes;     ///< the same
  std::vector<neighbour> around;   ///< by distance
  std::vector<std::byte> heads;    ///< manifests
  std::vector<std::byte> scratch;  ///< for a block that is not contiguous
  learned_threshold learned;       ///< which messages go straight
};

/// Every rank alternately sends a few pieces to each neighbour and receives a few from each, few enough that
/// ranks in a circle do not wait for each other's free blocks. The first piece contains the manifest, by
/// which the two ranks compare their lists, followed by the data if they fit: any number of short messages
/// costs one message per neighbour. Messages above the transport's threshold go straight into the receiver's
/// buffer once its manifest has provided the address; or, on a transport with messages of any length, they
/// follow after all pieces. Where cores copy, each sender learns which way costs less for messages of medium
/// size (`learned_threshold`). A rank that only takes short messages from a peer sends nothing back, so the
/// sender does not wait. If each neighbour has at most one message each way, which fits into a block with its
/// manifest, the same messages are sent without `neighbour` objects (`in_pieces`). Cost: one message per
/// neighbour and block; data that are not contiguous are copied once more.
///
/// The call reads a buffer only until its bytes have been sent or put; peers write only into buffers that
/// this call has announced.
struct direct {
  static constexpr auto implements = operation::exchange;
  static constexpr bool takes_strides = true;  ///< messages may have strides
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  /// The lists must stay valid until the call is over.
  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<const outgoing> sends, std::span<const incoming> takes) {
    // Calls of a communicator run one after the other, so they can share the workspace.
    auto& work = net.template state<workspace>();
    if (exchange::is_in_pieces(net, sends) && exchange::is_in_pieces(net, takes))
      return exchange::in_pieces(net, now, sends, takes, work.heads);
    return in_streams(net, now, sends, takes, work);
  }

 private:
  template <mailbox_transport Net>
  static task<> in_streams(Net& net, call_id now, std::span<const outgoing> sends,
                           std::span<const incoming> takes, workspace& work) {
    sends = chorale::by_distance(net.rank(), net.size(), sends, work.sends);
    takes = chorale::by_distance(net.rank(), net.size(), takes, work.takes);
    const auto sizes = straight_sizes::of(net);
    const std::size_t blocks = sizes.are_decided() ? net.settings().mailbox_blocks(true, net.size()) : 0;
    threshold_of_call threshold{sizes, net.rank(), sends, work.learned, blocks, net.block_bytes()};
    packed_messages<Net> packed;
    packed.replace(net, threshold.straight_from(), sends, work.sends, takes, work.takes);
    find_neighbours(net, work, sends, takes, threshold);
    straight_memory<Net> straight;
    begin(net, work, straight);

    // This many blocks are free: a receiver leaves at most half of the earlier blocks unacknowledged.
    const std::size_t ahead = net.blocks() - net.blocks() / 2;
    for (bool has_more = true, is_first = true; has_more; is_first = false) {
      has_more = false;
      for (neighbour& n : work.around) {
        for (std::size_t i = 0; i < ahead && n.out().has_more(); ++i) {
          const auto piece = n.next(net, work.scratch);
          // Only the first pieces are timed: later ones wait more often for free blocks.
          const auto watch = threshold.time(cost_of_ways::work::send, is_first ? piece.size() : 0);
          co_await net.send(n.peer(), now, piece);
          watch.end();
        }
        has_more = has_more || n.out().has_more();
      }
      for (neighbour& n : work.around) {
        for (std::size_t i = 0; i < ahead && n.in().has_more(); ++i) {
          bool is_told = false;
          {
            const auto message = co_await net.receive(n.peer(), now);
            is_told = n.accept(net, now, message, threshold);
          }
          if (is_told && n.moves_straight()) co_await n.move_straight(net, now, straight, threshold);
        }
        has_more = has_more || n.in().has_more();
      }
    }
    if constexpr (message_transport<Net>) {
      std::vector<transfer::outbound_message> whole_out;
      std::vector<transfer::inbound_message> whole_in;
      for (const neighbour& n : work.around) n.add_whole(net, whole_out, whole_in);
      if (!whole_out.empty() || !whole_in.empty())
        co_await transfer::exchange_all(net, now, whole_out, whole_in);
    }
    if constexpr (one_sided_transport<Net>) {
      for (const neighbour& n : work.around)
        if (n.has_straight()) co_await n.end_straight(net, now);
      for (const auto& one : straight.in) one.copy_back();
    }
    packed.unpack();
    threshold.end();
  }

  /// Copies this rank's messages to itself, which come first (distance 0), and makes the neighbours.
  template <mailbox_transport Net>
  static void find_neighbours(const Net& net, workspace& work, std::span<const outgoing> sends,
                              std::span<const incoming> takes, const threshold_of_call& threshold) {
    const auto next = [](auto& list, int peer) {
      std::size_t count = 0;
      while (count < list.size() && list[count].peer == peer) ++count;
      const auto found = list.first(count);
      list = list.subspan(count);
      return found;
    };
    const auto out = next(sends, net.rank());
    copy_all_own(net.rank(), out, next(takes, net.rank()));
    work.around.clear();
    const auto distance = [&](int peer) { return chorale::distance_of(peer, net.rank(), net.size()); };
    while (!sends.empty() || !takes.empty()) {
      const int peer =
          takes.empty() || (!sends.empty() && distance(sends.front().peer) < distance(takes.front().peer))
              ? sends.front().peer
              : takes.front().peer;
      const auto to = next(sends, peer);
      work.around.emplace_back(net, peer, to, next(takes, peer), threshold);
    }
  }

  template <mailbox_transport Net>
  static void begin(Net& net, workspace& work, straight_memory<Net>& straight) {
    std::size_t bytes = 0;
    for (const neighbour& n : work.around) bytes += n.memory_bytes();
    if (work.heads.size() < bytes) work.heads.resize(bytes);
    std::span<std::byte> memory{work.heads};
    for (neighbour& n : work.around) n.begin(net, memory, straight);
  }

  static void copy_all_own(int rank, std::span<const outgoing> out, std::span<const incoming> in) {
    if (out.size() != in.size()) throw_unequal_lists(rank, out.size(), rank, in.size());
    for (std::size_t i = 0; i < out.size(); ++i)
      compare(rank, out[i].bytes.size(), out[i].type, rank, in[i].bytes.size(), in[i].type, i);
    for (std::size_t i = 0; i < out.size(); ++i) exchange::copy_own(out[i], in[i]);
  }
};

}  // namespace chorale::exchange
