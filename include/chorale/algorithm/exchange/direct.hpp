// Direct exchange: each message from its sender to its receiver.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include <chorale/algorithm/exchange/neighbour.hpp>
#include <chorale/core/lean_algorithm.hpp>
#include <chorale/core/neighbours.hpp>

namespace chorale::exchange {

/// Every rank sends its first piece to each neighbour, then receives one of each, and so on: piece by piece,
/// so that at most two of a pair are under way and ranks in a circle do not wait for each other's free
/// blocks. A piece of the first round holds the manifest, in which the two compare their lists, and behind it
/// as much data as fits: short messages cost one message for each neighbour, however many there are. Long
/// ones go straight into the receiver's buffer, above the transport's threshold, once its manifest has said
/// where it is; or behind all pieces, as messages of a transport that has them. A rank that only takes short
/// messages from a peer sends it nothing, so that the sender does not wait. Cost: a message for each
/// neighbour and block; what does not lie together is copied once more.
///
/// A buffer is read until its bytes are sent, or placed, and written only by what this call announces.
struct direct {
  static constexpr auto implements = operation::exchange;
  template <class T>
  static constexpr bool runs_on = mailbox_transport<T>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::vector<outgoing> sends, std::vector<incoming> takes) {
    copy_own(net.rank(), sends, takes);
    const std::vector<int> distances = distances_of_peers(net.rank(), net.size(), sends, takes);
    std::vector<neighbour<Net>> around;
    for (const int d : distances) around.emplace_back((net.rank() + d) % net.size());
    const auto at = [&](int peer) -> neighbour<Net>& {
      const int d = distance_of(peer, net.rank(), net.size());
      return around[static_cast<std::size_t>(std::lower_bound(distances.begin(), distances.end(), d) -
                                             distances.begin())];
    };
    for (const outgoing& message : sends)
      if (message.peer != nobody && message.peer != net.rank()) at(message.peer).add(message);
    for (const incoming& message : takes)
      if (message.peer != nobody && message.peer != net.rank()) at(message.peer).add(message);

    std::size_t longest = 0;
    for (auto& n : around) {
      n.begin(net);
      longest = std::max(longest, std::max(n.out_bytes(), n.in_bytes()));
    }
    const std::size_t block = net.block_bytes();
    std::vector<std::byte> scratch;
    for (std::size_t from = 0; from < longest; from += block) {
      for (auto& n : around) {
        if (from >= n.out_bytes()) continue;
        co_await net.send(n.peer(), now, n.next(std::min(block, n.out_bytes() - from), scratch));
      }
      for (auto& n : around) {
        if (from >= n.in_bytes()) continue;
        bool may_put = false;
        {
          const auto message = co_await net.receive(n.peer(), now);
          may_put = n.accept(net, now, message, from, block);
        }
        if (may_put) co_await n.put_straight(net, now);
      }
    }
    if constexpr (message_transport<Net>) {
      std::vector<transfer::going> going;
      std::vector<transfer::coming> coming;
      for (const auto& n : around) n.add_whole(net, going, coming);
      if (!going.empty() || !coming.empty()) co_await transfer::move(net, now, going, coming);
    }
    if constexpr (one_sided_transport<Net>) {
      for (auto& n : around)
        for (std::size_t i = 0; i < n.notices(); ++i) co_await net.notified(n.peer(), now);
      for (auto& n : around) co_await net.flush(n.peer(), now);
    }
  }

 private:
  /// Messages of a rank to itself.
  static void copy_own(int rank, std::span<const outgoing> sends, std::span<const incoming> takes) {
    std::vector<outgoing> out;
    std::vector<incoming> in;
    for (const outgoing& message : sends)
      if (message.peer == rank) out.push_back(message);
    for (const incoming& message : takes)
      if (message.peer == rank) in.push_back(message);
    if (out.size() != in.size()) throw_unequal_lists(rank, out.size(), rank, in.size());
    for (std::size_t i = 0; i < out.size(); ++i)
      compare(rank, out[i].bytes.size(), out[i].type, rank, in[i].bytes.size(), in[i].type, i);
    for (std::size_t i = 0; i < out.size(); ++i)
      if (!out[i].bytes.empty()) std::memmove(in[i].bytes.data(), out[i].bytes.data(), out[i].bytes.size());
  }
};

}  // namespace chorale::exchange
