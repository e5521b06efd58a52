// SPDX-License-Identifier: Apache-2.0
// Which of a host's adapters a rank takes.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <chorale/verbs/address.hpp>
#include <chorale/verbs/selection.hpp>

namespace chorale::verbs {

/// A device that can be used.
struct candidate {
  device_choice settled;
  int kind = 0;                      ///< 0: InfiniBand, 1: RoCE that is routed, 2: other RoCE
  int rate = 0;                      ///< of the port, in units of 100 Mbit/s; 0: unknown
  int distance = 0;                  ///< 1 on another NUMA node than the thread
  endpoint_address address{};        ///< of the port
  std::uint16_t subnet_manager = 0;  ///< its LID; 0 on Ethernet

  /// Whether some ranks of a host may take this and others `other`, as far as the host can tell. Of RoCE
  /// whose addresses are not routed it cannot: such adapters are often cabled to different networks.
  [[nodiscard]] bool shares_fabric_with(const candidate& other) const {
    return kind == other.kind && rate == other.rate && kind != 2 && subnet_manager == other.subnet_manager &&
           verbs::why_apart(address, other.address).empty() &&
           verbs::why_apart(other.address, address).empty();
  }
};

/// The turn of a local rank among `count` devices: as many ranks for each, also of every second, fourth or
/// eighth local rank, as launchers leave to a NUMA node to which they deal ranks in turn. So not always the
/// remainder, but the sum of the digits to base `count` where that is even.
[[nodiscard]] inline std::size_t turn_of(std::size_t local_rank, std::size_t count) noexcept {
  if (count % 2 != 0) return local_rank % count;
  std::size_t sum = 0;
  for (; local_rank != 0; local_rank /= count) sum += local_rank % count;
  return sum % count;
}

/// The choice of a rank among at least one: the kind, the rate, and then the distance among those of one
/// fabric, which is that of the first of them. The fabric comes before the distance, or the ranks of two NUMA
/// nodes would take adapters that do not reach each other. Of several that are equal local ranks take turns.
[[nodiscard]] inline device_choice best_of(std::vector<candidate> usable, int local_rank) {
  constexpr const char* kinds[]{"InfiniBand", "RoCE with a routed address", "RoCE"};
  const candidate& first =
      *std::min_element(usable.begin(), usable.end(), [](const candidate& a, const candidate& b) {
        return std::tuple{a.kind, -a.rate} < std::tuple{b.kind, -b.rate};
      });
  std::vector<candidate*> equal;
  for (auto& each : usable) {
    if (&each != &first && !each.shares_fabric_with(first)) continue;
    if (!equal.empty() && each.distance < equal.front()->distance) equal.clear();
    if (equal.empty() || each.distance == equal.front()->distance) equal.push_back(&each);
  }
  candidate& taken = *equal[verbs::turn_of(static_cast<std::size_t>(local_rank), equal.size())];
  std::string why = taken.settled.device.name;
  if (usable.size() == 1) {
    why += " is the only RDMA device that can be used";
  } else {
    why +=
        fmt::format(" suits best of {} RDMA devices that can be used: {}", usable.size(), kinds[taken.kind]);
    if (taken.rate != 0) why += fmt::format(", {:g} Gbit/s", taken.rate / 10.0);
    if (taken.distance != 0) why += ", on another NUMA node than this thread";
  }
  if (equal.size() > 1)
    why += fmt::format(
        "; of {} that suit alike, the turn of local rank {}; name one in CHORALE_DEVICE if their networks "
        "are "
        "not connected",
        equal.size(), local_rank);
  taken.settled.why = std::move(why);
  return std::move(taken.settled);
}

}  // namespace chorale::verbs
