// SPDX-License-Identifier: Apache-2.0
// The function objects of <functional> as operators.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>

#include <catch2/catch.hpp>

#include <chorale/core/operator_tag.hpp>
#include <chorale/core/reduction.hpp>

using chorale::operator_tag;
using chorale::reduction;
using chorale::reduction_operator;

// A function object for another type would convert the elements; one that is not associative has no defined
// result.
static_assert(reduction_operator<std::plus<>, double> && reduction_operator<std::plus<double>, double>);
static_assert(!reduction_operator<std::plus<int>, double> && !reduction_operator<std::bit_or<int>, long>);
static_assert(!reduction_operator<std::minus<>, int> && !reduction_operator<std::divides<double>, double>);
static_assert(!reduction_operator<std::modulus<>, int> && !reduction_operator<std::less<>, bool>);
static_assert(!reduction_operator<std::greater<>, int> && !reduction_operator<std::less_equal<int>, int>);
static_assert(!reduction_operator<std::greater_equal<>, int>);
static_assert(reduction_operator<std::plus<>, std::complex<float>>);
static_assert(!reduction_operator<std::bit_and<>, float> && reduction_operator<std::bit_and<>, std::byte>);
static_assert(chorale::commutes<std::plus<>, double> && chorale::commutes<std::bit_xor<int>, int>);

namespace {

struct vector2 {
  int x, y;
  friend vector2 operator+(const vector2& a, const vector2& b) { return {a.x + b.x, a.y + b.y}; }
  friend bool operator==(const vector2&, const vector2&) = default;
};
static_assert(!chorale::commutes<std::plus<>, vector2>);

/// `left op right`, computed by the algorithms' loops on unaligned bytes.
template <class T, class Op>
T combined(Op op, T left, T right) {
  std::byte l[sizeof(T) + 1], r[sizeof(T) + 1];
  std::memcpy(l + 1, &left, sizeof left);
  std::memcpy(r + 1, &right, sizeof right);
  reduction::of<T>(op).combine_right({l + 1, sizeof(T)}, {r + 1, sizeof(T)});
  std::memcpy(&right, r + 1, sizeof right);
  reduction::of<T>(op).combine_left({&reinterpret_cast<std::byte&>(left), sizeof(T)}, {l + 1, 0});
  return right;
}

}  // namespace

TEST_CASE("standard function objects have the tags of the library's operators", "[operators]") {
  STATIC_REQUIRE(operator_tag<std::plus<>>() == operator_tag<chorale::sum_t>());
  STATIC_REQUIRE(operator_tag<std::plus<int>>() == operator_tag<chorale::sum_t>());
  STATIC_REQUIRE(operator_tag<std::multiplies<>>() == operator_tag<chorale::prod_t>());
  STATIC_REQUIRE(operator_tag<std::logical_and<>>() == operator_tag<chorale::logical_and_t>());
  STATIC_REQUIRE(operator_tag<std::logical_or<bool>>() == operator_tag<chorale::logical_or_t>());
  STATIC_REQUIRE(operator_tag<std::bit_and<>>() == operator_tag<chorale::bitwise_and_t>());
  STATIC_REQUIRE(operator_tag<std::bit_or<>>() == operator_tag<chorale::bitwise_or_t>());
  STATIC_REQUIRE(operator_tag<std::bit_xor<unsigned>>() == operator_tag<chorale::bitwise_xor_t>());
}

TEST_CASE("standard function objects compute the same as the library's operators", "[operators]") {
  using limits = std::numeric_limits<int>;
  CHECK(combined(std::plus<>{}, limits::max(), 1) == limits::min());  // no undefined overflow
  CHECK(combined(std::plus<int>{}, limits::max(), 1) == limits::min());
  CHECK(combined(std::multiplies<>{}, limits::min(), -1) == limits::min());
  CHECK(combined(std::multiplies<>{}, std::uint16_t{65535}, std::uint16_t{65535}) == 1);
  CHECK(combined(std::logical_and<>{}, 4, 8) == 1);
  CHECK(combined(std::logical_or<>{}, 0, 8) == 1);
  CHECK(combined(std::bit_and<>{}, 6, 3) == 2);
  CHECK(combined(std::bit_or<>{}, 6, 3) == 7);
  CHECK(combined(std::bit_xor<>{}, 6, 3) == 5);
  CHECK(combined(std::plus<>{}, vector2{1, 2}, vector2{3, 4}) == vector2{4, 6});
}

TEST_CASE("standard function objects accept types that the library's operators do not", "[operators]") {
  STATIC_REQUIRE(!reduction_operator<chorale::sum_t, bool> && reduction_operator<std::plus<>, bool>);
  CHECK(combined(std::plus<>{}, true, true));
  CHECK_FALSE(combined(std::multiplies<>{}, true, false));
  STATIC_REQUIRE(!reduction_operator<chorale::logical_and_t, double>);
  CHECK(combined(std::logical_and<>{}, 2.5, 3.0) == 1.0);
  CHECK(combined(std::logical_or<>{}, 0.0, 0.0) == 0.0);
}
