// SPDX-License-Identifier: Apache-2.0
// An algorithm is measured as what it implements.
// expect: each algorithm that is measured implements the operation that is named
#include <chorale/algorithm/allreduce/ring.hpp>
#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/bench.hpp>

int main(int argc, char** argv) {
  using namespace chorale;
#ifdef SHOULD_FAIL
  return bench::compare<operation::broadcast, allreduce::ring>(argc, argv);
#else
  return bench::compare<operation::broadcast, broadcast::flat>(argc, argv);
#endif
}
