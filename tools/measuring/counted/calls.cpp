// SPDX-License-Identifier: Apache-2.0
// Calls of two ranks in one process, whose instructions callgrind counts: tools/measure instructions runs it.
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/chorale.hpp>

#include "counting.hpp"

namespace {

using counting::count;

template <class Comm>
void count_calls(Comm& comm, std::size_t bytes, int calls) {
  const std::size_t n = bytes / sizeof(double);
  const std::string size = std::to_string(bytes);
  std::vector<double> one(n);
  std::vector<double> two(2 * n);
  std::vector<double> other(2 * n);
  const std::span<const double> mine{one};
  // A rank that only sends gets ahead of the other, so they synchronize occasionally.
  const auto meet = [&](int i) {
    if (i % 8 == 7) comm.barrier();
  };
  if (bytes == 8) count(comm, "barrier 0", calls, [&](int) { comm.barrier(); });
  count(comm, "broadcast " + size, calls, [&](int i) {
    comm.broadcast(std::span{one}, chorale::root{0});
    meet(i);
  });
  count(comm, "allreduce " + size, calls,
        [&](int) { comm.allreduce(chorale::in_place, std::span{one}, chorale::sum); });
  count(comm, "allgather " + size, calls, [&](int) { comm.allgather(mine, std::span{two}); });
  count(comm, "alltoall " + size, calls,
        [&](int) { comm.alltoall(std::span<const double>{two}, std::span{other}); });
  const int peer = 1 - comm.rank();
  count(comm, "exchange " + size, calls, [&](int) {
    comm.exchange({chorale::to(peer, mine)}, {chorale::from(peer, std::span{other}.first(n))});
  });
  if constexpr (chorale::window_transport<typename Comm::transport_type>) {
    std::vector<double> memory(n);
    chorale::window w{comm, std::span{memory}};
    count(comm, "put " + size, calls, [&](int) {
      w.put(peer, 0, mine);
      w.flush(peer);
    });
    count(comm, "get " + size, calls, [&](int) { w.get(peer, 0, std::span{one}); });
    w.fence();
  }
}

template <class Transport>
void run(int calls) {
  counting::on_two_ranks<Transport>([&](auto& comm) {
    count_calls(comm, 8, calls);
    count_calls(comm, 65536, calls / 8);
  });
}

}  // namespace

int main(int argc, char** argv) {
  namespace transport = chorale::transport;
  const std::string_view which = argc > 1 ? argv[1] : "";
  const int calls = argc > 2 ? std::atoi(argv[2]) : 2000;
  if (which == "rc")
    run<transport::rc>(calls);
  else if (which == "rc_send_receive")
    run<transport::rc_send_receive>(calls);
  else if (which == "ud")
    run<transport::ud>(calls);
  else if (which == "ud_rdma")
    run<transport::ud_rdma>(calls);
  else if (which == "hybrid")
    run<transport::hybrid<2>>(calls);
  else
    return std::cerr << "usage: calls rc|rc_send_receive|ud|ud_rdma|hybrid [CALLS]\n", 2;
}
