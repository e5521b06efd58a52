// SPDX-License-Identifier: Apache-2.0
// Multi-object alltoall.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <chorale/algorithm/levels.hpp>
#include <chorale/algorithm/place_blocks.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/speakers.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/places.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::alltoall {

/// Each speaker of a place collects by `In` the blocks of its place's ranks for the places to which it talks,
/// sends each of these places all blocks for it in one piece, through mailboxes, and distributes by `In` what
/// it receives. So a rank sends two messages to each rank of its place and one to each of its share of the
/// other places, instead of one to each rank. Even blocks. Cost: two alltoalls within a place of n blocks for
/// each rank, and between them one step of P / c messages for each of c speakers, where P is the number of
/// places; memory of some 2 n^2 / (c P) blocks. For short messages. Any assignment of ranks to places.
/// Source: the three steps of Bienz et al. 2019 (node-aware communication), with one pair of ranks between
/// two places.
template <class In>
struct multi_object : of_levels<In> {
  static_assert(In::implements == operation::alltoall && In::uneven,
                "alltoall::multi_object<In> is composed of an alltoall of uneven blocks");
  static constexpr auto implements = operation::alltoall;
  static constexpr bool uneven = false;

  /// Whether enough ranks of each place speak: with few places, or a small one, a speaker would hold many
  /// times the blocks of one rank.
  template <placed_transport Net>
  static bool suits(const Net& net) noexcept {
    const places& all = net.layout();
    return of_levels<In>::suits(net) && all.count() >= all.largest() && 2 * all.smallest() >= all.largest();
  }

  template <placed_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> in, blocks<std::byte> out) {
    const std::size_t one = in.layout().largest();
    if (one == 0) co_return;
    const route<Net> way{net, one};
    const place_blocks by_place{net.layout(), in.layout()};
    const bool is_straight = by_place.are_straight();
    const auto aside = chorale::scratch_of(net, is_straight ? 0 : by_place.total());
    const auto from = chorale::scratch_of(net, way.room());
    const auto to = chorale::scratch_of(net, way.room());
    auto& inside = levels<Net>::of(net).inside();
    if (!is_straight) by_place.pack(in, aside.memory());
    const std::span<const std::byte> given = is_straight ? in.buffer() : aside.memory();
    co_await In::run(inside, now.with_private_sizes(), {given, way.of_speakers()},
                     {from.memory(), way.of_ranks()});
    way.sort_by_place(from.memory(), to.memory());
    co_await way.exchange(net, now, to.memory(), from.memory());
    way.sort_by_rank(from.memory(), to.memory());
    const std::span<std::byte> taken = is_straight ? out.buffer() : aside.memory();
    co_await In::run(inside, now.later(1).with_private_sizes(), {to.memory(), way.of_ranks()},
                     {taken, way.of_speakers()});
    if (!is_straight) by_place.unpack(aside.memory(), out);
  }

 private:
  /// Which blocks pass through which ranks of this rank's place.
  template <placed_transport Net>
  class route {
   public:
    /// `one`: bytes of a block.
    route(Net& net, std::size_t one)
        : all_(&net.layout()),
          ours_(&speakers<Net>::of(net)),
          here_(all_->members(all_->of(net.rank()))),
          one_(one),
          mine_(ours_->places_of(chorale::rank_within_place(*all_, net.rank()))) {}

    /// Bytes of all blocks that pass through this rank.
    [[nodiscard]] std::size_t room() const noexcept { return here_.size() * bytes_of(mine_); }
    /// The layout of these blocks with one part for each rank of the place, their source or their
    /// destination.
    [[nodiscard]] block_layout of_ranks() const {
      return block_layout::even(static_cast<int>(here_.size()), bytes_of(mine_));
    }
    /// The layout of one rank's blocks, ordered by place, with one part for each rank of the place: the
    /// blocks that pass through it.
    [[nodiscard]] block_layout of_speakers() const {
      std::vector<extent> through;
      for (int i = 0; i < static_cast<int>(here_.size()); ++i) {
        const auto places = ours_->places_of(i);
        through.push_back({before(places.first) * one_, bytes_of(places)});
      }
      return block_layout::uneven(std::move(through));
    }

    /// Reorders the blocks collected from the ranks of this place by destination place.
    void sort_by_place(std::span<const std::byte> from, std::span<std::byte> to) const noexcept {
      for (int place = mine_.first; place < mine_.second; ++place) {
        auto rest = part(to, place);
        for (std::size_t i = 0; i < here_.size(); ++i, rest = rest.subspan(bytes_of(place)))
          chorale::copy_bytes(rest.data(), from.data() + i * bytes_of(mine_) + offset_of(place),
                              bytes_of(place));
      }
    }
    /// Reorders the blocks received from other places by destination rank.
    void sort_by_rank(std::span<const std::byte> from, std::span<std::byte> to) const noexcept {
      for (int place = mine_.first; place < mine_.second; ++place) {
        const std::byte* next = part(from, place).data();
        for (std::size_t at = offset_of(place); at < offset_of(place) + bytes_of(place); at += one_)
          for (std::size_t i = 0; i < here_.size(); ++i, next += one_)
            chorale::copy_bytes(to.data() + i * bytes_of(mine_) + at, next, one_);
      }
    }
    /// Sends each place its part of `out`, and receives that of this place into the same part of `in`.
    task<> exchange(Net& net, call_id now, std::span<const std::byte> out, std::span<std::byte> in) const {
      std::size_t longest = 0;
      for (int place = mine_.first; place < mine_.second; ++place) {
        const auto taken = part(in, place);
        if (ours_->partner(place) == net.rank())
          chorale::copy_bytes(taken.data(), part(out, place).data(), taken.size());
        else
          longest = std::max(longest, taken.size());
      }
      const std::size_t step = net.block_bytes();
      for (std::size_t at = 0; at < longest; at += step) {
        for (int place = mine_.first; place < mine_.second; ++place) {
          const auto whole = part(out, place);
          const int partner = ours_->partner(place);
          if (partner != net.rank() && at < whole.size())
            co_await net.send(partner, now, whole.subspan(at, std::min(step, whole.size() - at)));
        }
        for (int place = mine_.first; place < mine_.second; ++place) {
          const auto whole = part(in, place);
          const int partner = ours_->partner(place);
          if (partner == net.rank() || at >= whole.size()) continue;
          const auto message = co_await net.receive(partner, now);
          transfer::place(net, partner, now, message, whole.subspan(at, std::min(step, whole.size() - at)));
        }
      }
    }

   private:
    /// The number of ranks of earlier places.
    [[nodiscard]] std::size_t before(int place) const noexcept {
      return place == all_->count()
                 ? all_->order().size()
                 : static_cast<std::size_t>(all_->members(place).data() - all_->order().data());
    }
    /// Bytes of a rank's blocks for a place.
    [[nodiscard]] std::size_t bytes_of(int place) const noexcept {
      return all_->members(place).size() * one_;
    }
    /// The same for places [first, second).
    [[nodiscard]] std::size_t bytes_of(std::pair<int, int> places) const noexcept {
      return (before(places.second) - before(places.first)) * one_;
    }
    /// Where a rank's blocks for a place begin among those that pass through this rank.
    [[nodiscard]] std::size_t offset_of(int place) const noexcept {
      return (before(place) - before(mine_.first)) * one_;
    }
    /// The part of a buffer with all blocks from this place for `place`, or from `place` for this place.
    template <class Byte>
    [[nodiscard]] std::span<Byte> part(std::span<Byte> buffer, int place) const noexcept {
      return buffer.subspan(here_.size() * offset_of(place), here_.size() * bytes_of(place));
    }

    const places* all_;
    const speakers<Net>* ours_;
    std::span<const int> here_;  ///< the ranks of this place
    std::size_t one_;
    std::pair<int, int> mine_;  ///< the places to which this rank talks
  };
};

}  // namespace chorale::alltoall
