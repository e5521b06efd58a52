// SPDX-License-Identifier: Apache-2.0
// Element types and operators.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>

#include "../support/collectives/checks.hpp"
#include "policies.hpp"
#include "ranks.hpp"

using namespace inprocess;
using namespace collectives;
using chorale::transport::rc;
using chorale::transport::ud;

namespace {

template <class T, class Op, class Comm>
void check_type(Comm& comm, Op op) {
  for (const std::size_t misalignment : {std::size_t{0}, std::size_t{1}, std::size_t{7}}) {
    const auto s = seed() + misalignment;
    check_reduce<T>(comm, 33, comm.size() - 1, op, s, {.misalignment = misalignment});
    check_allreduce<T>(comm, 33, op, s, {.misalignment = misalignment});
    check_allreduce<T>(comm, 2 * comm.transport().block_bytes() / sizeof(T) + 1, op, s,
                       {.in_place = true, .misalignment = misalignment});
    check_broadcast<T>(comm, 33, 1, s, {.misalignment = misalignment});
  }
  const T alone = comm.allreduce(operand<T, Op>(seed(), comm.rank(), 0), op);
  if (!(alone == expected_reduction<T>(seed(), comm.size(), 0, op))) throw wrong("allreduce of one value");
}

}  // namespace

using arithmetic =
    watched_list<std::tuple<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                            std::uint16_t, std::uint32_t, std::uint64_t, float, double, char, long long>,
                 std::tuple<std::int8_t, std::uint16_t, std::int32_t, double>, std::tuple<>>;
TEMPLATE_LIST_TEST_CASE("every arithmetic type", "[types]", arithmetic) {
  run_ranks<doubling<rc>>(3, settings(), [](auto& comm) { check_type<TestType>(comm, chorale::sum); });
}

TEMPLATE_TEST_CASE("complex numbers", "[types]", std::complex<float>, std::complex<double>) {
  run_ranks<doubling<rc>>(5, settings(), [](auto& comm) {
    check_type<TestType>(comm, chorale::sum);
    check_type<TestType>(comm, chorale::prod);
    check_scan<TestType>(comm, 33, chorale::prod, true, seed());
    check_alltoall<TestType>(comm, 33, seed());
  });
}

#if defined(CHORALE_HAS_FLOAT16) || defined(CHORALE_HAS_BFLOAT16)
namespace {

template <class T, class Comm>
void check_short_float(Comm& comm) {
  check_type<T>(comm, chorale::sum);
  check_type<T>(comm, chorale::prod);
  check_type<T>(comm, chorale::min);
  check_type<T>(comm, chorale::max);
  check_reduce_scatter<T>(comm, 33, chorale::sum, seed());
  check_allgather<T>(comm, 33, seed());
}

}  // namespace

TEST_CASE("floating-point numbers of 16 bits", "[types]") {
  run_ranks<doubling<rc>>(5, settings(), [](auto& comm) {
#if defined(CHORALE_HAS_FLOAT16)
    check_short_float<_Float16>(comm);
#endif
#if defined(CHORALE_HAS_BFLOAT16)
    check_short_float<__bf16>(comm);
#endif
  });
}
#else
TEST_CASE("floating-point numbers of 16 bits", "[types]") {
  WARN("skipped: this compiler has neither _Float16 nor __bf16");
}
#endif

TEMPLATE_TEST_CASE("structures with blocks for each rank", "[types]", vector3, aligned, wide) {
  run_ranks<standard<rc>>(5, settings(), [](auto& comm) {
    for (const std::size_t count : {0U, 1U, 3U}) {
      check_allgather<TestType>(comm, count, seed(), {.in_place = true, .misalignment = 3});
      check_alltoallv<TestType>(comm, count, seed(), {.nonblocking = true});
      check_gatherv<TestType>(comm, count, 4, seed());
      check_scatter<TestType>(comm, count, 2, seed(), {.misalignment = 5});
      if constexpr (std::same_as<TestType, wide>) {
        check_reduce_scatter<wide>(comm, count, multiply_wide{}, seed());
        check_reduce_scatter_uneven<wide>(comm, count, multiply_wide{}, seed());
        check_scan<wide>(comm, count, multiply_wide{}, true, seed());
        check_scan<wide>(comm, count, multiply_wide{}, false, seed());
      } else if constexpr (std::same_as<TestType, vector3>) {
        check_reduce_scatter<TestType>(comm, count, chorale::sum, seed());
        check_scan<TestType>(comm, count, chorale::sum, false, seed(), {.misalignment = 1});
      }
    }
  });
}

TEST_CASE("every operator", "[types]") {
  run_ranks<doubling<rc>>(5, settings(), [](auto& comm) {
    check_type<std::int32_t>(comm, chorale::prod);
    check_type<std::int32_t>(comm, chorale::min);
    check_type<std::int32_t>(comm, chorale::max);
    check_type<std::int32_t>(comm, chorale::logical_and);
    check_type<std::int32_t>(comm, chorale::logical_or);
    check_type<std::int32_t>(comm, chorale::logical_xor);
    check_type<std::int32_t>(comm, chorale::bitwise_and);
    check_type<std::int32_t>(comm, chorale::bitwise_or);
    check_type<std::int32_t>(comm, chorale::bitwise_xor);
    check_type<double>(comm, chorale::prod);
    check_type<double>(comm, chorale::min);
    check_type<bool>(comm, chorale::logical_and);
    check_type<bool>(comm, chorale::logical_xor);
  });
}

TEMPLATE_TEST_CASE("structures of the user's own", "[types]", standard<rc>, standard<ud>) {
  run_ranks<TestType>(6, settings(), [](auto& comm) {
    check_type<triangle>(comm, multiply{});
    check_type<vector3>(comm, chorale::sum);
    check_type<aligned>(comm, chorale::sum);
    // A lambda is also an operator.
    check_type<vector3>(comm, [](const vector3& l, const vector3& r) {
      return vector3{l.x + r.x, l.y, r.z};
    });
  });
}

TEMPLATE_TEST_CASE("elements that are larger than a block", "[types]", standard<rc>, standard<ud>,
                   degree_1<rc>) {
  for (const int size : {1, 2, 5, 8}) {
    run_ranks<TestType>(size, settings(), [](auto& comm) {
      for (const std::size_t misalignment : {0U, 3U}) {
        for (const std::size_t count : {0U, 1U, 4U}) {
          check_broadcast<wide>(comm, count, comm.size() - 1, seed(), {.misalignment = misalignment});
          check_reduce<wide>(comm, count, comm.size() / 2, multiply_wide{}, seed(),
                             {.misalignment = misalignment});
          check_reduce<wide>(comm, count, 0, multiply_wide{}, seed(),
                             {.nonblocking = true, .in_place = true});
          check_allreduce<wide>(comm, count, multiply_wide{}, seed(), {.misalignment = misalignment});
        }
      }
    });
  }
}

namespace {

/// Values of all magnitudes, whose sum depends on the association.
double rough(int rank, std::size_t i) {
  const auto n = noise(seed(), rank, i);
  return std::ldexp(static_cast<double>(static_cast<std::int64_t>(n)), static_cast<int>(n % 80) - 100);
}

}  // namespace

TEMPLATE_TEST_CASE("a floating-point sum has the same bits on all ranks and in every run", "[types]",
                   standard<rc>, doubling<rc>, standard<ud>) {
  constexpr int size = 7;
  constexpr std::size_t count = 1500;
  std::vector<std::vector<double>> results(size);
  for (int run = 0; run < 3; ++run) {
    run_ranks<TestType>(size, settings(), [&](auto& comm) {
      const auto me = static_cast<std::size_t>(comm.rank());
      for (int call = 0; call < 5; ++call) {
        std::vector<double> data(count);
        for (std::size_t i = 0; i < count; ++i) data[i] = rough(comm.rank(), i);
        // A different rank is late each time.
        if ((run + call) % size == comm.rank()) chorale::clock::sleep_for(std::chrono::milliseconds{2});
        comm.allreduce(chorale::in_place, std::span{data}, chorale::sum);
        if (results[me].empty()) results[me] = data;
        if (std::memcmp(results[me].data(), data.data(), count * sizeof(double)) != 0)
          throw wrong("another sum than before");
      }
    });
  }
  for (const auto& other : results) {
    REQUIRE(other.size() == count);
    CHECK(std::memcmp(results[0].data(), other.data(), count * sizeof(double)) == 0);
  }
  for (std::size_t i = 0; i < count; ++i) {
    long double exact = 0;
    long double magnitude = 0;
    for (int r = 0; r < size; ++r) {
      exact += rough(r, i);
      magnitude += std::fabs(rough(r, i));
    }
    CHECK(std::fabs(results[0][i] - exact) <= size * std::numeric_limits<double>::epsilon() * magnitude);
  }
}
