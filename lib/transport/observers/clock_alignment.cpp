#include "clock_alignment.hpp"

#include <algorithm>
#include <limits>

namespace chorale::transport {

void clock_alignment::add(std::size_t host, std::pair<std::uint32_t, std::uint32_t> call, std::int64_t begin,
                          std::int64_t end) {
  auto& hosts = calls_[call];
  const auto [place, is_new] = hosts.try_emplace(host, sight{begin, end});
  if (is_new) return;
  place->second.last_begin = std::max(place->second.last_begin, begin);
  place->second.first_end = std::min(place->second.first_end, end);
}

std::vector<clock_alignment::shift> clock_alignment::shifts(std::size_t hosts) const {
  /// Bounds on the offset of the second host's times relative to the first host's.
  struct bounds {
    std::int64_t low = std::numeric_limits<std::int64_t>::min();
    std::int64_t high = std::numeric_limits<std::int64_t>::max();
  };
  std::map<std::pair<std::size_t, std::size_t>, bounds> between;
  for (const auto& [call, seen] : calls_) {
    for (const auto& [a, at_a] : seen) {
      for (const auto& [b, at_b] : seen) {
        if (a == b) continue;
        bounds& found = between[{a, b}];
        found.low = std::max(found.low, at_a.last_begin - at_b.first_end);
        found.high = std::min(found.high, at_a.first_end - at_b.last_begin);
      }
    }
  }
  std::vector<shift> found(hosts);
  if (hosts == 0) return found;
  found[0].is_known = true;
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    // The host with the tightest bound to one that is already known.
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::size_t next = 0;
    shift its;
    for (const auto& [pair, limits] : between) {
      const auto [a, b] = pair;
      const std::int64_t width = limits.high - limits.low;
      if (!found[a].is_known || found[b].is_known || width >= least) continue;
      least = width;
      next = b;
      its = {found[a].nanoseconds + limits.low + width / 2,
             width / 2 + std::max<std::int64_t>(found[a].uncertainty, 0), true};
      goes_on = true;
    }
    if (goes_on) found[next] = its;
  }
  return found;
}

}  // namespace chorale::transport
