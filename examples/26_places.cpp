// SPDX-License-Identifier: Apache-2.0
// Clusters with many ranks per host: some algorithms within each host, and others between hosts. On one
// machine CHORALE_PLACES makes the ranks believe that they are on several hosts:
//   CHORALE_PLACES=2x2 mpirun -n 4 build/examples/26_places
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

using namespace chorale;

// Within a host through the ranks' shared memory, between hosts by messages.
using short_messages = allreduce::two_level<allreduce::last_arriver, allreduce::recursive_multiplying<8>,
                                            broadcast::last_arriver>;
// Each rank of a host sends a share of the result to the other hosts.
using long_messages =
    allreduce::split_level<reduce_scatter::last_arriver, allreduce::ring, allgather::last_arriver>;

using by_hosts =
    communicator<transport::rc, barrier::two_level<barrier::last_arriver, barrier::dissemination>,
                 broadcast::two_level<broadcast::last_arriver, broadcast::binomial>,
                 automatic<short_messages, long_messages>>;

int main() try {
  by_hosts comm;
  const places& hosts = comm.hosts();
  if (comm.rank() == 0)
    for (int host = 0; host < hosts.count(); ++host)
      fmt::print("host {}: ranks {}\n", host, fmt::join(hosts.members(host), ", "));

  bool right = true;
  for (const std::size_t count : {std::size_t{1}, std::size_t{100'000}}) {
    std::vector<long> data(count);
    std::iota(data.begin(), data.end(), comm.rank());
    comm.allreduce(in_place, std::span{data}, sum);
    const long ranks = comm.size();
    for (std::size_t i = 0; i < count; ++i)
      right = right && data[i] == ranks * static_cast<long>(i) + ranks * (ranks - 1) / 2;
  }
  comm.broadcast(right, root{comm.size() - 1});
  comm.barrier();
  if (comm.rank() == 0)
    fmt::print("allreduce of {} ranks on {} hosts: {}; rank 0 has {} connections\n", comm.size(),
               hosts.count(), right ? "right" : "WRONG", comm.transport().connections());
  return right ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "26_places: {}\n", e.what());
  return 1;
}
