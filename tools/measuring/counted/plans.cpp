// SPDX-License-Identifier: Apache-2.0
// Each call of two ranks in one process plainly, nonblocking and by a plan, whose instructions callgrind
// counts: tools/measure instructions --plans runs it.
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

/// Counts a call in all its forms.
template <class Comm>
class forms {
 public:
  forms(Comm& comm, std::size_t bytes, int calls) : comm_(comm), bytes_(bytes), calls_(calls) {}

  /// `meets`: synchronizes the ranks occasionally, since a rank that only sends gets ahead of the other.
  template <class Plain, class Begin>
  void count(const std::string& name, bool meets, const Plain& plain, const Begin& begin,
             chorale::plan plan) {
    const auto measure = [&](const char* form, const auto& call) {
      counting::count(comm_, name + "_" + form + " " + std::to_string(bytes_), calls_, [&](int i) {
        call();
        if (meets && i % 8 == 7) comm_.barrier();
      });
    };
    measure("plain", plain);
    measure("nonblocking", [&] { begin().wait(); });
    measure("run", [&] { plan.run(); });
    measure("start", [&] {
      plan.start();
      plan.wait();
    });
  }

 private:
  Comm& comm_;
  std::size_t bytes_;
  int calls_;
};

/// `of(call)` with all forms of `call(arguments)`.
#define FORMS(call, meets, ...)                                                                 \
  count(                                                                                        \
      #call, meets, [&] { comm.call(__VA_ARGS__); }, [&] { return comm.i##call(__VA_ARGS__); }, \
      comm.plan_##call(__VA_ARGS__))

template <class Comm>
void count_all(Comm& comm, std::size_t bytes, int calls) {
  const std::size_t n = bytes / sizeof(double);
  std::vector<double> block(n), result(n), blocks(2 * n), results(2 * n);
  const std::span<const double> in{block}, all{blocks};
  const std::span<double> out{result}, outs{results};
  const chorale::sum_t sum;
  const int peer = 1 - comm.rank();
  forms of{comm, bytes, calls};
  of.FORMS(barrier, false);
  of.FORMS(broadcast, true, out, chorale::root{0});
  of.FORMS(reduce, true, in, out, sum, chorale::root{0});
  of.FORMS(allreduce, false, in, out, sum);
  of.FORMS(allgather, false, in, outs);
  of.FORMS(alltoall, false, all, outs);
  of.FORMS(gather, true, in, outs, chorale::root{0});
  of.FORMS(scatter, true, all, out, chorale::root{0});
  of.FORMS(reduce_scatter, false, all, out, sum);
  of.FORMS(scan, true, in, out, sum);
  of.FORMS(exchange, false, {chorale::to(peer, in)}, {chorale::from(peer, out)});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view{argv[1]} != "rc") return std::cerr << "usage: plans [rc [CALLS]]\n", 2;
  const int calls = argc > 2 ? std::atoi(argv[2]) : 2000;
  counting::on_two_ranks<chorale::transport::rc>([&](auto& comm) {
    count_all(comm, 8, calls);
    count_all(comm, 1024, calls);
    count_all(comm, 65536, calls / 8);
  });
}
