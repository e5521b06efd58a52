// Estimates the differences between the clocks of hosts from the times of calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace chorale::transport {

/// Finds the offset to add to the times of each host, so that they match the first host's. Each call that no
/// rank leaves before all have entered it (a barrier, an allreduce, an allgather, an alltoall) is a ping-pong
/// between all ranks: in true time, the first end on one host is not before the last begin on another. Every
/// such call bounds the difference of two clocks from both sides, and shorter calls more tightly; the
/// remaining uncertainty is at most half the duration of the shortest call. If a clock drifts, its mean
/// offset is used.
class clock_alignment {
 public:
  /// Adds what one rank saw of a call, identified by its group and number. Times are in nanoseconds.
  void add(std::size_t host, std::pair<std::uint32_t, std::uint32_t> call, std::int64_t begin,
           std::int64_t end);

  struct shift {
    std::int64_t nanoseconds = 0;
    std::int64_t uncertainty =
        0;                  ///< half of the width of the bounds; less than 0: they contradict each other
    bool is_known = false;  ///< a chain of calls connects it with the first host
  };
  /// The offsets of hosts 0 to `hosts` - 1.
  [[nodiscard]] std::vector<shift> shifts(std::size_t hosts) const;

 private:
  /// Times of the ranks of one host in one call.
  struct sight {
    std::int64_t last_begin = 0;
    std::int64_t first_end = 0;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::size_t, sight>> calls_;
};

}  // namespace chorale::transport
