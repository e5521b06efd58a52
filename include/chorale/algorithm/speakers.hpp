// SPDX-License-Identifier: Apache-2.0
// The ranks of each place that talk to other places, all at the same time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <chorale/algorithm/levels.hpp>
#include <chorale/algorithm/subset.hpp>
#include <chorale/core/places.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale {

/// The speakers of a place are its first ranks: as many in each place as the smallest place has ranks, but no
/// more than there are places. Each speaker talks to a share of the places on behalf of its own, the first
/// speaker to the first places, and so on. So one step carries data from each place to every other, posted by
/// as many ranks as possible, with one pair of ranks for each pair of places. Made at first use, and kept by
/// the transport: 4 bytes for each speaker of a place, and for each place to which this rank talks.
template <placed_transport Net>
class speakers {
 public:
  /// The speakers of this rank's place.
  [[nodiscard]] static speakers& of(Net& net) {
    speakers& made = net.template state<speakers>();
    if (!made.is_made_) [[unlikely]]
      made.make(net);
    return made;
  }

  /// The speakers of this rank's place as a group. Precondition: this rank speaks.
  [[nodiscard]] subset<Net>& inside() noexcept { return *inside_; }
  /// Whether this rank is a speaker.
  [[nodiscard]] bool speaks() const noexcept { return inside_.has_value(); }
  /// Whether all ranks of this rank's place are speakers.
  [[nodiscard]] bool are_all() const noexcept { return all_->members(here_).size() == count_; }

  /// For each place to which this rank talks, in ascending order, the rank there that talks to this rank's
  /// place; for its own place, which may be among them, this rank. Empty if this rank does not speak.
  [[nodiscard]] std::span<const int> partners() const noexcept { return partners_; }
  /// The rank of the whole group that talks to this rank's place on behalf of `place`.
  [[nodiscard]] int partner(int place) const noexcept {
    return all_->members(place)[static_cast<std::size_t>(speaker_to(here_))];
  }
  /// The number of the speaker of every place that talks to that place.
  [[nodiscard]] int speaker_to(int place) const noexcept {
    return static_cast<int>(static_cast<std::size_t>(place) * count_ /
                            static_cast<std::size_t>(all_->count()));
  }
  /// The range of places to which speaker `number` of every place talks, without its end; empty if the rank
  /// with that number does not speak.
  [[nodiscard]] std::pair<int, int> places_of(int number) const noexcept {
    const auto first = [this](std::size_t i) {
      const auto places = static_cast<std::size_t>(all_->count());
      return static_cast<int>(std::min(places, (i * places + count_ - 1) / count_));
    };
    return {first(static_cast<std::size_t>(number)), first(static_cast<std::size_t>(number) + 1)};
  }

 private:
  void make(Net& net) {
    all_ = &net.layout();
    here_ = all_->of(net.rank());
    count_ = static_cast<std::size_t>(std::min(all_->smallest(), all_->count()));
    const int mine = chorale::rank_within_place(*all_, net.rank());
    partners_.clear();
    for (int place = 0; place < all_->count(); ++place)
      if (speaker_to(place) == mine) partners_.push_back(partner(place));
    if (static_cast<std::size_t>(mine) < count_) inside_.emplace(net, all_->members(here_).first(count_));
    is_made_ = true;
  }

  bool is_made_ = false;
  const places* all_ = nullptr;
  std::optional<subset<Net>> inside_;
  std::size_t count_ = 0;  ///< of each place
  int here_ = 0;
  std::vector<int> partners_;
};

}  // namespace chorale
