// SPDX-License-Identifier: Apache-2.0
// Ranks that reduce by different operators with possibly equal type names.
#include <chorale/core/named.hpp>

#include "harness.hpp"

using chorale::errc;
using chorale::named;

namespace {

int larger(int a, int b) {
  return a < b ? b : a;
}
int smaller(int a, int b) {
  return a < b ? a : b;
}

}  // namespace

TEMPLATE_TEST_CASE("two closures of one function are two operators", "[misuse]", MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    const auto all = misuse::run<TestType>(size, [](auto& comm) {
      const auto add = [](int a, int b) { return a + b; };
      const auto multiply = [](int a, int b) { return a * b; };
      static_cast<void>(comm.rank() == 1 ? comm.allreduce(2, add) : comm.allreduce(2, multiply));
    });
    INFO(misuse::describe(all));
    for (const auto& one : all) {
      CHECK(one.is(errc::mismatch));
      CHECK(one.says({"unnamed user operator '", "(tag "}));
      CHECK(one.names(1));
    }
  }
}

TEMPLATE_TEST_CASE("functions of one type have the names that they are given", "[misuse]",
                   MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    const auto wrong = misuse::run<TestType>(size, [](auto& comm) {
      static_cast<void>(comm.rank() == 0 ? comm.allreduce(2, named<"larger">(&larger))
                                         : comm.allreduce(2, named<"smaller">(&smaller)));
    });
    misuse::check_all_fail(wrong, errc::mismatch, {"user operator 'larger'", "user operator 'smaller'"});
  }
}

TEMPLATE_TEST_CASE("ranks may write one operator in different ways", "[misuse]", MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    const auto right = misuse::run<TestType>(size, [size](auto& comm) {
      const int total = comm.rank() == 0 ? comm.allreduce(2, std::plus<>{}) : comm.allreduce(2, chorale::sum);
      const auto most = comm.rank() == 0 ? comm.allreduce(7, named<"larger">(&larger))
                                         : comm.allreduce(comm.rank(), named<"larger">(chorale::max));
      const auto last = comm.allreduce(chorale::placed{comm.rank() / 2, comm.rank()}, chorale::max_at);
      const auto first = comm.allreduce(std::pair{comm.rank() / 2, comm.rank()}, chorale::min_at);
      const int top = (size - 1) / 2;
      if (total != 2 * size || most != 7 || last != chorale::placed{top, 2 * top} || first != std::pair{0, 0})
        throw std::runtime_error("a wrong result");
    });
    INFO(misuse::describe(right));
    for (const auto& one : right) CHECK(!one.failed());
  }
}
