// SPDX-License-Identifier: Apache-2.0
// An algorithm of your own, measured beside the library's, with results checked: mpirun -n 2
// 11_measure_own_algorithm
#include <chorale/bench.hpp>
#include <chorale/chorale.hpp>

namespace mine {
/// Allreduce by two binomial trees: up to rank 0, and down again. Cost: 2 log2 n steps.
struct two_trees {
  static constexpr auto implements = chorale::operation::allreduce;
  template <class T>
  static constexpr bool runs_on = chorale::mailbox_transport<T>;

  template <chorale::mailbox_transport Net>
  static chorale::task<> run(Net& net, chorale::call_id now, std::span<std::byte> data,
                             chorale::reduction op) {
    co_await chorale::reduce::degree_k<1>::run(net, now, data, data, op, 0);
    co_await chorale::broadcast::binomial::run(net, now, data, 0);
  }
};
}  // namespace mine

int main(int argc, char** argv) {
  using namespace chorale;
  return bench::compare<operation::allreduce, mine::two_trees, allreduce::ring, allreduce::standard>(argc,
                                                                                                     argv);
}
