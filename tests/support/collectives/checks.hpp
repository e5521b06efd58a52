// SPDX-License-Identifier: Apache-2.0
// One collective call and the comparison of its result with a serial computation.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <chorale/communicator.hpp>

#include "cases.hpp"
#include "element_types.hpp"
#include "exchange_checks.hpp"
#include "manner.hpp"
#include "reducing_checks.hpp"
#include "rooted_checks.hpp"

namespace collectives {

template <class T, class Comm>
void check_broadcast(Comm& comm, std::size_t count, int root, std::uint64_t seed, const manner& m = {}) {
  broadcast_case<T> one{of(comm, seed, m), count, root};
  if (m.nonblocking)
    await(comm.ibroadcast(one.data.span(), chorale::root{root}));
  else
    comm.broadcast(one.data.span(), chorale::root{root});
  one.verify(describe<T>("broadcast", count, comm.rank(), m, root));
}

/// Equal for ranks that share a clock.
inline std::int64_t name_of_clock() {
  static const auto name = [] {
    std::ifstream file{"/proc/sys/kernel/random/boot_id"};
    std::string boot;
    file >> boot;
    return static_cast<std::int64_t>(std::hash<std::string>{}(boot));
  }();
  return name;
}

/// No rank leaves before all those of its host, which share its clock, have entered.
template <class Comm>
void check_barrier(Comm& comm, const manner& m = {}) {
  const auto now = [] { return chorale::clock::now().time_since_epoch().count(); };
  const auto came = now();
  if (m.nonblocking)
    await(comm.ibarrier());
  else
    comm.barrier();
  const auto left = now();
  const std::array mine{std::int64_t{came}, name_of_clock()};
  std::vector<std::int64_t> all(2 * static_cast<std::size_t>(comm.size()));
  comm.allgather(std::span<const std::int64_t>{mine}, std::span{all});
  std::int64_t last = came;
  for (std::size_t i = 0; i < all.size(); i += 2)
    if (all[i + 1] == mine[1]) last = std::max(last, all[i]);
  if (last > left)
    throw wrong("barrier" + describe(m) + ": rank " + std::to_string(comm.rank()) + " left " +
                std::to_string(last - left) + " ns before the last rank came");
}

}  // namespace collectives
