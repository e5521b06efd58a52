// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <chorale/bench/aligned_floats.hpp>
#include <chorale/bench/statistics.hpp>
#include <chorale/core/reduction.hpp>

#include "line.hpp"

namespace points::calibration {
namespace {

/// The cost of a message for the writer, and for the reader at the destination. The ranks alternate: each has
/// in its caches the memory that the other writes next.
struct way_and_use {
  double write = 0;
  double use = 0;
};
way_and_use write_and_use(const job& in, line& way, std::size_t bytes,
                          const std::function<void(const std::byte*)>& use) {
  constexpr int rounds = 101;
  std::vector<double> writes;
  std::vector<double> uses;
  const auto since = [](chorale::bench::timer::time_point begin) {
    return std::max(0.0, chorale::bench::seconds_since(begin) - chorale::bench::clock_cost());
  };
  in.control.barrier();
  for (int turn = 0; turn < 2 * rounds; ++turn) {
    if (turn % 2 == in.control.rank()) {
      const auto begin = chorale::bench::timer::now();
      carry_out(way, IBV_WR_RDMA_WRITE, bytes, 0);
      writes.push_back(since(begin));
    }
    in.control.barrier();
    if (turn % 2 == 1 - in.control.rank()) {
      const auto begin = chorale::bench::timer::now();
      use(way.received().data());
      uses.push_back(since(begin));
    }
    in.control.barrier();
  }
  return {chorale::bench::median(std::move(writes)), chorale::bench::median(std::move(uses))};
}

/// Powers of two, and the sizes half-way between: at the size of a cache, costs change within a factor of
/// 1.5.
std::size_t next_size(std::size_t bytes) noexcept {
  return std::has_single_bit(bytes) ? bytes / 2 * 3 : bytes / 3 * 4;
}

}  // namespace

void measure_payloads(const job& in, line& way, adapter_facts& found) {
  chorale::bench::aligned_floats memory{longest / sizeof(float)};
  const auto mine = std::as_writable_bytes(memory.span());
  std::memset(mine.data(), 0, longest);
  const auto add = chorale::reduction::of<double>(std::plus<>{});
  const bool measures = in.control.rank() == 0;
  // In a collective call, ranks copy to each other simultaneously, and the system's copies slow each other
  // down: so both ranks make the copies to memory that the device has not allocated.
  const auto posted = [&](std::size_t bytes, unsigned flags, bool apart) {
    const int calls = static_cast<int>(std::clamp<std::size_t>((std::size_t{1} << 22) / bytes, 1, 1000));
    const double time =
        measures || apart ? until_complete(way, IBV_WR_RDMA_WRITE, bytes, flags, calls, apart) : 0;
    in.control.barrier();
    return time;
  };
  const double without_payload = posted(8, IBV_SEND_INLINE, false);
  // The time of every message includes the cache line that the other rank has touched.
  const double without_touched = write_and_use(in, way, 8, [](const std::byte*) {}).write;
  found.reach.push_back({8, std::max(0.0, posted(8, 0, true) - posted(8, 0, false))});
  for (std::size_t bytes = 256; bytes <= longest; bytes = next_size(bytes)) {
    const auto copied =
        write_and_use(in, way, bytes, [&](const std::byte* from) { std::memcpy(mine.data(), from, bytes); });
    const auto combined = write_and_use(in, way, bytes, [&](const std::byte* from) {
      add.combine_left(mine.first(bytes), {from, bytes});
    });
    const double shared = posted(bytes, 0, false);
    found.copy.push_back({bytes, shared - without_payload});
    found.reach.push_back({bytes, std::max(0.0, posted(bytes, 0, true) - shared)});
    found.copy_touched.push_back({bytes, std::max(0.0, copied.write - without_touched)});
    found.copy_received.push_back({bytes, copied.use});
    found.combine_received.push_back({bytes, combined.use});
  }
}

}  // namespace points::calibration
