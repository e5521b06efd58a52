// Element types and operators.
#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
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

TEMPLATE_TEST_CASE("every arithmetic type", "[types]", std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                   std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, float, double, char,
                   long long) {
  run_ranks<doubling<rc>>(3, settings(), [](auto& comm) { check_type<TestType>(comm, chorale::sum); });
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
    // A lambda is an operator too.
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
                   standard<rc>, degree_3<rc>, doubling<rc>, standard<ud>) {
  constexpr int size = 7;
  constexpr std::size_t count = 1500;
  std::vector<std::vector<double>> results(size);
  for (int run = 0; run < 3; ++run) {
    run_ranks<TestType>(size, settings(), [&](auto& comm) {
      const auto me = static_cast<std::size_t>(comm.rank());
      for (int call = 0; call < 5; ++call) {
        std::vector<double> data(count);
        for (std::size_t i = 0; i < count; ++i) data[i] = rough(comm.rank(), i);
        // Another rank is late each time.
        if ((run + call) % size == comm.rank()) std::this_thread::sleep_for(std::chrono::milliseconds{2});
        comm.allreduce(std::span{data});
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
