// SPDX-License-Identifier: Apache-2.0
// The two levels of a group: the ranks of a place, and ranks of all places.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <chorale/algorithm/subset.hpp>
#include <chorale/core/places.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale {

/// The number of a rank of the group among the ranks of its place.
[[nodiscard]] inline int rank_within_place(const places& all, int rank) noexcept {
  const auto members = all.members(all.of(rank));
  return static_cast<int>(std::ranges::lower_bound(members, rank) - members.begin());
}

/// The root of a call, as a rank sees it.
struct placed_root {
  int place;       ///< its place, and the number of that place's leader among the leaders
  int number;      ///< its number among the ranks of its place: 0 if it leads
  bool is_me;      ///< this rank is the root
  bool is_near;    ///< it is in this rank's place
  bool holds_all;  ///< this rank is the root or the leader of the root's place

  /// Where rank `root` is, as rank `rank` sees it.
  placed_root(const places& all, int rank, int root) noexcept
      : place(all.of(root)),
        number(chorale::rank_within_place(all, root)),
        is_me(rank == root),
        is_near(all.of(rank) == place),
        holds_all(is_me || rank == all.members(place).front()) {}
  /// Whether this rank passes data between the root and the leader of its place, which are different ranks.
  [[nodiscard]] bool hands_over() const noexcept { return holds_all && number != 0; }
};

/// The ranks of this rank's place as a group, and one rank of each place as another. There are as many of the
/// latter as the smallest place has ranks: the first has the lowest rank of each place, its leader, the
/// second the next rank, and so on. Made at first use, and kept by the transport: 4 bytes for each rank of
/// the place and for each place.
template <placed_transport Net>
class levels {
 public:
  /// The levels as this rank sees them.
  [[nodiscard]] static levels& of(Net& net) {
    levels& made = net.template state<levels>();
    if (!made.inside_) [[unlikely]]
      made.make(net);
    return made;
  }

  /// The ranks of this rank's place; rank 0 leads.
  [[nodiscard]] subset<Net>& inside() noexcept { return *inside_; }
  /// Whether this rank leads its place.
  [[nodiscard]] bool leads() const noexcept { return inside_->rank() == 0; }
  /// The ranks of all places that have the same number within their place as this rank; rank i is in place i.
  /// These are the leaders if this rank leads. Precondition: the number is below `columns()`.
  [[nodiscard]] subset<Net>& between() noexcept { return *between_; }
  /// The number of ranks of the smallest place. The same on all ranks.
  [[nodiscard]] int columns() const noexcept { return columns_; }

 private:
  void make(Net& net) {
    const places& all = net.layout();
    columns_ = all.smallest();
    const int mine = chorale::rank_within_place(all, net.rank());
    if (mine < columns_) {
      std::vector<int> column;
      for (int place = 0; place < all.count(); ++place)
        column.push_back(all.members(place)[static_cast<std::size_t>(mine)]);
      between_.emplace(net, column);
    }
    inside_.emplace(net, all.members(all.of(net.rank())));
  }

  std::optional<subset<Net>> inside_;
  std::optional<subset<Net>> between_;
  int columns_ = 0;
};

/// Whether ranks have to map memory for an algorithm, or for one that it is composed of.
template <class Algorithm>
inline constexpr bool needs_mapped_memory = requires { requires Algorithm::maps_memory; };

/// The common members of all two-level algorithms that are composed of `Algorithms`.
template <class... Algorithms>
struct of_levels {
  static constexpr bool goes_by_places = true;  ///< `automatic` chooses it only where there are lanes
  static constexpr bool maps_memory = (needs_mapped_memory<Algorithms> || ...);  ///< within places
  template <class Net>
  static constexpr bool runs_on = run_over_subsets<Net, Algorithms...>;
  /// Whether there are two levels: several places, of which one has several ranks. In these, ranks have to
  /// map memory if one of the algorithms needs that.
  template <placed_transport Net>
  static bool suits(const Net& net) noexcept {
    if constexpr (maps_memory)
      if (!net.maps_within_place()) return false;
    return net.layout().count() > 1 && net.layout().largest() > 1;
  }
};

/// Whether operands may be combined first within places and then between them: either this preserves their
/// order, or the order does not matter.
template <placed_transport Net>
[[nodiscard]] bool may_combine_by_places(const Net& net, const reduction& op) noexcept {
  return op.commutes() || net.layout().are_contiguous();
}

}  // namespace chorale
