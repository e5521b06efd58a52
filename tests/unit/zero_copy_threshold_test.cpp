// SPDX-License-Identifier: Apache-2.0
#include "../../lib/verbs/zero_copy_threshold.hpp"

#include <catch2/catch.hpp>

using chorale::verbs::zero_copy_threshold;

TEST_CASE("zero copy begins where one copy by the system costs less than two by cores", "[zero_copy]") {
  // Nanoseconds: a system call of 0.9 us at 38 GB/s, and one of 2.7 us at 128 GB/s.
  CHECK(zero_copy_threshold(900, 1 / 38.0) == 10240);
  CHECK(zero_copy_threshold(2688, 1 / 128.0) == 98304);
  // Only the ratio of the two counts.
  CHECK(zero_copy_threshold(2688 * 1024, 8) == 98304);
}

TEST_CASE("whatever was measured, zero copy begins between a mailbox block and 128 KiB", "[zero_copy]") {
  CHECK(zero_copy_threshold(0, 1) == 10240);
  CHECK(zero_copy_threshold(-5, 1) == 10240);
  CHECK(zero_copy_threshold(1e300, 1e-300) == 131072);
  CHECK(zero_copy_threshold(1, 0) == 131072);
  CHECK(zero_copy_threshold(1, -1) == 131072);
}
