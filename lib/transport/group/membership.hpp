// SPDX-License-Identifier: Apache-2.0
// The members of a group: what a rank knows of the others from their cards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <chorale/core/places.hpp>
#include <chorale/transport/group/group_view.hpp>

#include "../../core/process.hpp"
#include "rank_card.hpp"

namespace chorale::transport {

/// The ranks of a group, their hosts, and their shared numbers. Built from one card per rank; time and memory
/// grow linearly: 4 bytes and one bit per rank, 4 more bytes where the ranks of a place are not neighbours,
/// plus a record per host and place. Not thread-safe.
class membership {
 public:
  /// `where`, `job`: as the functions of these names.
  membership(int rank, int size, location where, std::string launched, std::uint32_t job);

  /// Adds the card of the next rank, from rank 0. `mine`: this rank's card.
  void add(const received_card& theirs, const rank_card& mine);
  /// Call after the last card.
  void complete();
  /// Sets the name of the host of `peer`.
  void name_host_of(int peer, std::string_view name);

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  /// How the group was started.
  [[nodiscard]] const std::string& launched() const noexcept { return launched_; }
  /// The secrets, keys and names that all ranks of the group share.
  [[nodiscard]] const group_numbers& numbers() const noexcept { return numbers_; }
  /// Identifies the job: the same on all ranks of one bootstrap group. Public.
  [[nodiscard]] std::uint32_t job() const noexcept { return job_; }
  /// True if on any host ranks outnumber the cores that they may use together.
  [[nodiscard]] bool is_oversubscribed() const noexcept { return oversubscribed_; }
  /// Makes `zero_copy_from` return the value for the devices of places instead.
  void use_near_costs() noexcept { zero_copy_kib_.common = zero_copy_kib_.near; }
  /// The largest `rank_card::zero_copy_kib`, in bytes.
  [[nodiscard]] std::size_t zero_copy_from() const noexcept {
    return zero_copy_kib_.common * std::size_t{1024};
  }
  /// Where this rank is.
  [[nodiscard]] const location& where() const noexcept { return where_; }
  /// Which ranks share a place.
  [[nodiscard]] const chorale::places& layout() const noexcept { return layout_; }
  [[nodiscard]] int hosts() const noexcept { return static_cast<int>(hosts_.size()); }
  [[nodiscard]] const std::string& host_of(int peer) const { return host(peer).name; }
  /// True for the ranks of this rank's host.
  [[nodiscard]] bool is_on_this_host(int peer) const noexcept {
    return host_number(peer) == host_number(rank_);
  }
  /// True for the lowest rank of each host, which sends the host's name to the others.
  [[nodiscard]] bool names_its_host(int peer) const;
  /// True if a thread answers for that rank while it computes.
  [[nodiscard]] bool is_served(int peer) const { return served_[static_cast<std::size_t>(peer)]; }
  /// The process of that rank if it is visible from here; otherwise null.
  [[nodiscard]] const process_identity* process_of(int peer) const noexcept;
  /// Ranks whose processes are visible from here, beginning after this rank, so that every rank is watched by
  /// some other.
  [[nodiscard]] const std::vector<int>& neighbours() const noexcept { return neighbours_; }

 private:
  struct known_host {
    std::string name;
    int lowest = 0;  ///< its lowest rank
  };
  /// Summary of the cards of a host's ranks.
  struct tally {
    int lowest = 0;
    int ranks = 0;
    cpu_mask cores{};
  };
  /// Collected while cards arrive.
  struct arrivals {
    std::unordered_map<std::uint64_t, int> host_numbers{};   ///< by fingerprint
    std::unordered_map<std::uint64_t, int> place_numbers{};  ///< likewise
    std::vector<tally> hosts{};
    std::vector<int> places{};  ///< of each rank whose card has arrived
  };
  [[nodiscard]] int host_number(int peer) const noexcept {
    return host_numbers_[static_cast<std::size_t>(layout_.of(peer))];
  }
  [[nodiscard]] const known_host& host(int peer) const {
    return hosts_[static_cast<std::size_t>(host_number(peer))];
  }

  int rank_;
  int size_;
  location where_;
  std::string launched_;
  std::uint32_t job_;
  group_numbers numbers_;
  bool oversubscribed_ = false;
  struct {
    std::uint8_t common = 0;
    std::uint8_t near = 0;
  } zero_copy_kib_;
  arrivals arrivals_;
  std::vector<known_host> hosts_;
  std::vector<int> host_numbers_;  ///< of each place
  chorale::places layout_;
  std::vector<bool> served_;
  std::unordered_map<int, process_identity> processes_;
  std::vector<int> neighbours_;
};

}  // namespace chorale::transport
