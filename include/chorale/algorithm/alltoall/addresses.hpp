// SPDX-License-Identifier: Apache-2.0
// The addresses of all ranks' receive buffers, cached between calls.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/topology/bruck.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::alltoall {

/// The regions that the ranks exposed last. `refresh` synchronises: when it returns, all ranks have begun it.
/// A region is sent again if any part of it has changed, including its key, so that memory registered anew at
/// the same address is never mistaken for the old.
class addresses {
 public:
  /// Block `block` of rank `rank`'s buffer, which holds the even blocks of `layout`: exactly the region that
  /// this rank may fill. @throws error errc::mismatch if that rank exposes a region of another size.
  template <mailbox_transport Net>
  [[nodiscard]] remote_region of(const Net& net, int rank, call_id now, const block_layout& layout,
                                 int block) const {
    const remote_region& all = known_[static_cast<std::size_t>(rank)];
    if (!chorale::is_owned_by(net, rank, all) || all.bytes != layout.total()) [[unlikely]]
      chorale::throw_unequal_sizes(net, now, rank, all.bytes, net.rank(), layout.total());
    const extent place = layout[block];
    return all.part(all.address + place.offset, place.bytes);
  }

  /// Allgathers the changed regions by Bruck's algorithm: ceil(log2 n) messages, empty if nothing changed;
  /// more if the changes of a round do not fit into one message. Collective. `mine`: the region that this
  /// rank exposes now.
  template <mailbox_transport Net>
  task<> refresh(Net& net, call_id now, remote_region mine) {
    const auto ranks = static_cast<std::size_t>(net.size());
    known_.resize(ranks);
    // Changed regions in the order of Bruck's places: this rank first, then the following ranks.
    std::vector<remote_region> news;
    std::vector<std::size_t> news_up_to(ranks + 1);  // by number of places: changes among the first
    auto& last = known_[static_cast<std::size_t>(net.rank())];
    if (last != mine) news.push_back(mine);
    last = mine;
    news_up_to[1] = news.size();
    const std::size_t most = net.block_bytes() / sizeof(remote_region);
    for (const auto round : topology::bruck_allgather{net.rank(), net.size()}) {
      // A full message announces that another follows.
      const std::size_t out_end = news_up_to[static_cast<std::size_t>(round.blocks)];
      std::size_t sent = 0;
      bool sending = true;
      bool receiving = true;
      while (sending || receiving) {
        if (sending) {
          const std::size_t count = out_end - sent < most ? out_end - sent : most;
          co_await net.send(round.to, now, std::as_bytes(std::span{news}.subspan(sent, count)));
          sent += count;
          sending = count == most;
        }
        if (receiving) {
          const auto message = co_await net.receive(round.from, now);
          const std::size_t old = news.size();
          transfer::append(net, round.from, now, message, most, news);
          receiving = news.size() - old == most;
        }
      }
      // Changes arrive in the order of places, so the changes among the first places are always a prefix.
      for (int place = round.distance; place < round.distance + round.blocks; ++place) {
        const int rank = (net.rank() + place) % net.size();
        const auto p = static_cast<std::size_t>(place);
        std::size_t upto = news_up_to[p];
        if (upto < news.size() && chorale::is_owned_by(net, rank, news[upto])) {
          known_[static_cast<std::size_t>(rank)] = news[upto];
          ++upto;
        }
        news_up_to[p + 1] = upto;
      }
    }
  }

 private:
  std::vector<remote_region> known_;
};

}  // namespace chorale::alltoall
