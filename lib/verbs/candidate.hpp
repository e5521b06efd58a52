// SPDX-License-Identifier: Apache-2.0
// The choice among a host's adapters.
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
  int kind = 0;                      ///< 0: InfiniBand, 1: RoCE with a routable address, 2: other RoCE
  int rate = 0;                      ///< of the port, in units of 100 Mbit/s; 0: unknown
  int distance = 0;                  ///< 1 on another NUMA node than the thread
  endpoint_address address{};        ///< of the port
  std::uint16_t subnet_manager = 0;  ///< its LID; 0 on Ethernet

  /// Whether both adapters are on one fabric as far as the host can tell, so that its ranks may use either.
  /// False for RoCE without routable addresses: such adapters are often cabled to different networks.
  [[nodiscard]] bool shares_fabric_with(const candidate& other) const {
    return kind == other.kind && rate == other.rate && kind != 2 && subnet_manager == other.subnet_manager &&
           verbs::why_apart(address, other.address).empty() &&
           verbs::why_apart(other.address, address).empty();
  }
};

/// The device of a local rank, out of `count`. It distributes the ranks evenly, even if only every second,
/// fourth or eighth local rank chooses among these devices, as on a NUMA node of a launcher that places ranks
/// cyclically. The remainder would not achieve that for an even `count`, hence the digit sum to that base.
[[nodiscard]] inline std::size_t turn_of(std::size_t local_rank, std::size_t count) noexcept {
  if (count % 2 != 0) return local_rank % count;
  std::size_t sum = 0;
  for (; local_rank != 0; local_rank /= count) sum += local_rank % count;
  return sum % count;
}

/// The choice among `usable`, of which there is at least one. The first adapter of the best kind and the
/// highest rate determines the fabric; of the adapters on it, the nearest count, and local ranks take turns
/// among these. The fabric comes before the distance: otherwise the ranks of two NUMA nodes could take
/// adapters that do not reach each other.
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
