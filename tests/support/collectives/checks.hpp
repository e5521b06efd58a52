// SPDX-License-Identifier: Apache-2.0
// One collective call and the comparison of its result with a serial computation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

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

/// No rank leaves before all have entered: the latest entry is not after the earliest exit. The ranks share a
/// clock, since they are on one host.
template <class Comm>
void check_barrier(Comm& comm, const manner& m = {}) {
  const auto now = [] { return chorale::clock::now().time_since_epoch().count(); };
  const auto came = now();
  if (m.nonblocking)
    await(comm.ibarrier());
  else
    comm.barrier();
  const auto left = now();
  const auto last = comm.allreduce(came, chorale::max);
  if (last > left)
    throw wrong("barrier" + describe(m) + ": rank " + std::to_string(comm.rank()) + " left " +
                std::to_string(last - left) + " ns before the last rank came");
}

}  // namespace collectives
