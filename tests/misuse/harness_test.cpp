// SPDX-License-Identifier: Apache-2.0
// The harness itself: it detects a mismatch on every rank, and no error in correct calls.
#include "harness.hpp"

using chorale::errc;

TEMPLATE_TEST_CASE("a mistake is seen on every rank, a right call on none", "[misuse]", MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    const auto wrong = misuse::run<TestType>(size, [](auto& comm) {
      if (comm.rank() == 1)
        static_cast<void>(comm.allreduce(1.0F, chorale::sum));
      else
        static_cast<void>(comm.allreduce(1, chorale::sum));
    });
    INFO(misuse::describe(wrong));
    for (const auto& one : wrong) {
      CHECK(one.is(errc::mismatch));
      CHECK(one.says({"int32", "float32"}));
      CHECK(one.names(1));
    }
    const auto right =
        misuse::run<TestType>(size, [](auto& comm) { static_cast<void>(comm.allreduce(1, chorale::sum)); });
    INFO(misuse::describe(right));
    for (const auto& one : right) CHECK(!one.failed());
  }
}
