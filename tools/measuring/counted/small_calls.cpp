// SPDX-License-Identifier: Apache-2.0
// Calls of 4 bytes of two ranks in one process over rc, whose instructions callgrind counts for each rank:
// tools/measure layers runs it.
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include <chorale/chorale.hpp>

#include "counting.hpp"

namespace {

template <class Comm>
void count_all(Comm& comm, int calls) {
  std::vector<float> one(1);
  std::vector<float> result(1);
  std::vector<float> two(2);
  std::vector<float> results(2);
  const std::span<const float> in{one};
  const std::span<const float> all{two};
  const std::span<float> out{result};
  const std::span<float> outs{results};
  const int peer = 1 - comm.rank();
  const auto count = [&](const char* name, const auto& call) {
    counting::count_ranks(comm, name, calls, [&](int) { call(); });
  };
  // A rank that only sends gets ahead of the other, so they synchronize after every eighth call, outside the
  // count.
  const auto count_apart = [&](const char* name, const auto& call) {
    counting::count_ranks(comm, name, calls, [&](int i) {
      call();
      if (i % 8 != 7) return;
      CALLGRIND_TOGGLE_COLLECT;
      comm.barrier();
      CALLGRIND_TOGGLE_COLLECT;
    });
  };
  count("barrier", [&] { comm.barrier(); });
  count_apart("broadcast", [&] { comm.broadcast(out, chorale::root{0}); });
  count_apart("scatter", [&] { comm.scatter(all, out, chorale::root{0}); });
  count_apart("gather", [&] { comm.gather(in, outs, chorale::root{0}); });
  count_apart("reduce", [&] { comm.reduce(in, out, chorale::sum, chorale::root{0}); });
  count_apart("scan", [&] { comm.scan(in, out, chorale::sum); });
  count_apart("exscan", [&] { comm.exscan(in, out, chorale::initial{0.0F}, chorale::sum); });
  count("allreduce", [&] { comm.allreduce(in, out, chorale::sum); });
  count("allgather", [&] { comm.allgather(in, outs); });
  count("alltoall", [&] { comm.alltoall(all, outs); });
  count("reduce_scatter", [&] { comm.reduce_scatter(all, out, chorale::sum); });
  count("exchange", [&] { comm.exchange({chorale::to(peer, in)}, {chorale::from(peer, out)}); });
}

}  // namespace

int main(int argc, char** argv) {
  counting::on_two_ranks<chorale::transport::rc>(
      [&](auto& comm) { count_all(comm, argc > 1 ? std::atoi(argv[1]) : 400); });
}
