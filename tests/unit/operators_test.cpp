// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/combine.hpp>
#include <chorale/core/operators.hpp>

namespace {

struct point {
  double x, y;
  friend point operator+(const point& a, const point& b) { return {a.x + b.x, a.y + b.y}; }
  friend bool operator==(const point&, const point&) = default;
};

/// A value and its rank, compared by value only, so that ties show which operand wins.
struct located {
  int value, rank;
  friend bool operator<(const located& a, const located& b) { return a.value < b.value; }
  friend bool operator==(const located&, const located&) = default;
};

struct flags {
  unsigned bits;
  friend flags operator&(flags a, flags b) { return {a.bits & b.bits}; }
  friend flags operator|(flags a, flags b) { return {a.bits | b.bits}; }
  friend flags operator^(flags a, flags b) { return {a.bits ^ b.bits}; }
  friend bool operator==(const flags&, const flags&) = default;
};

struct plain {
  int a;
};

enum plain_enum { one };

using chorale::reduction_operator;

// For each operator, a type that it accepts and a similar one that it does not.
static_assert(reduction_operator<chorale::sum_t, std::int8_t> && !reduction_operator<chorale::sum_t, bool>);
static_assert(reduction_operator<chorale::sum_t, point> && !reduction_operator<chorale::prod_t, point>);
static_assert(reduction_operator<chorale::prod_t, float> && !reduction_operator<chorale::prod_t, bool>);
static_assert(reduction_operator<chorale::min_t, located> && !reduction_operator<chorale::min_t, plain>);
static_assert(reduction_operator<chorale::max_t, bool> && !reduction_operator<chorale::max_t, plain>);
static_assert(reduction_operator<chorale::logical_and_t, bool> &&
              !reduction_operator<chorale::logical_and_t, double>);
static_assert(reduction_operator<chorale::logical_or_t, char> &&
              !reduction_operator<chorale::logical_or_t, plain>);
static_assert(reduction_operator<chorale::logical_xor_t, int> &&
              !reduction_operator<chorale::logical_xor_t, float>);
static_assert(reduction_operator<chorale::bitwise_and_t, std::byte> &&
              !reduction_operator<chorale::bitwise_and_t, float>);
static_assert(reduction_operator<chorale::bitwise_or_t, flags> &&
              !reduction_operator<chorale::bitwise_or_t, plain>);
static_assert(reduction_operator<chorale::bitwise_xor_t, bool> &&
              !reduction_operator<chorale::bitwise_xor_t, double>);
static_assert(reduction_operator<chorale::sum_t, std::complex<double>>);
static_assert(!reduction_operator<chorale::sum_t, plain> && !reduction_operator<chorale::sum_t, plain_enum>);
static_assert(!reduction_operator<chorale::sum_t, std::string> &&
              !reduction_operator<chorale::sum_t, const int>);
using function_pointer = int (*)(const int&, const int&);
static_assert(reduction_operator<function_pointer, int> && !reduction_operator<function_pointer, plain>);

template <class T>
T of_bits(std::uint64_t bits) {  // the value with the two's complement bits `bits`, computed arithmetically
  if constexpr (sizeof(T) < 8) bits &= (std::uint64_t{1} << (8 * sizeof(T))) - 1;
  T value;
  std::memcpy(&value, &bits, sizeof(T));  // little or big endian: takes the low bytes
  if constexpr (std::endian::native == std::endian::big)
    std::memcpy(&value, reinterpret_cast<const char*>(&bits) + 8 - sizeof(T), sizeof(T));
  return value;
}

template <class T>
std::vector<T> interesting(std::mt19937_64& random) {
  using limits = std::numeric_limits<T>;
  std::vector<T> values{
      T{0}, T{1}, static_cast<T>(-1), T{2}, limits::min(), limits::max(), static_cast<T>(limits::max() - 1)};
  for (int i = 0; i < 100; ++i) values.push_back(of_bits<T>(random()));
  return values;
}

template <class T>
void check_pair(T a, T b) {
  const auto ua = static_cast<std::uint64_t>(a);
  const auto ub = static_cast<std::uint64_t>(b);
  const auto expect = [&](const char* name, T got, T expected) {
    if (got == expected) return;
    FAIL(name << "(" << +a << ", " << +b << ") gave " << +got << ", not " << +expected);
  };
  // 64-bit unsigned arithmetic is arithmetic modulo 2^64, whose low bits are those of every narrower type.
  expect("sum", chorale::sum(a, b), of_bits<T>(ua + ub));
  expect("prod", chorale::prod(a, b), of_bits<T>(ua * ub));
  expect("min", chorale::min(a, b), a < b ? a : b);
  expect("max", chorale::max(a, b), a > b ? a : b);
  expect("logical_and", chorale::logical_and(a, b), a != 0 && b != 0 ? T{1} : T{0});
  expect("logical_or", chorale::logical_or(a, b), a != 0 || b != 0 ? T{1} : T{0});
  expect("logical_xor", chorale::logical_xor(a, b), (a == 0 && b != 0) || (a != 0 && b == 0) ? T{1} : T{0});
  std::uint64_t both = 0, either = 0, odd = 0;
  for (int bit = 0; bit < 64; ++bit) {
    const unsigned count = static_cast<unsigned>(ua >> bit & 1) + static_cast<unsigned>(ub >> bit & 1);
    if (count == 2) both |= std::uint64_t{1} << bit;
    if (count >= 1) either |= std::uint64_t{1} << bit;
    if (count == 1) odd |= std::uint64_t{1} << bit;
  }
  expect("bitwise_and", chorale::bitwise_and(a, b), of_bits<T>(both));
  expect("bitwise_or", chorale::bitwise_or(a, b), of_bits<T>(either));
  expect("bitwise_xor", chorale::bitwise_xor(a, b), of_bits<T>(odd));
}

}  // namespace

TEMPLATE_TEST_CASE("operators: integers, against 64-bit modular arithmetic", "[operators]", std::int8_t,
                   std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
                   std::uint64_t, char, long, long long) {
  STATIC_REQUIRE(std::is_same_v<decltype(chorale::sum(TestType{}, TestType{})), TestType>);
  STATIC_REQUIRE(std::is_same_v<decltype(chorale::bitwise_xor(TestType{}, TestType{})), TestType>);
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937_64 random{seed};
  const auto values = interesting<TestType>(random);
  for (const TestType a : values)
    for (const TestType b : values) check_pair(a, b);
  if constexpr (sizeof(TestType) == 1)
    for (unsigned a = 0; a < 256; ++a)
      for (unsigned b = 0; b < 256; ++b) check_pair(of_bits<TestType>(a), of_bits<TestType>(b));
}

TEST_CASE("operators: signed overflow wraps, also in constant expressions", "[operators]") {
  STATIC_REQUIRE(chorale::sum(std::int8_t{127}, std::int8_t{1}) == -128);
  STATIC_REQUIRE(chorale::sum(std::numeric_limits<int>::max(), 1) == std::numeric_limits<int>::min());
  STATIC_REQUIRE(chorale::prod(std::uint16_t{65535}, std::uint16_t{65535}) == 1);
  STATIC_REQUIRE(chorale::prod(std::numeric_limits<long long>::min(), -1LL) ==
                 std::numeric_limits<long long>::min());
}

TEMPLATE_TEST_CASE("operators: floating sum, prod, min and max", "[operators]", float, double, long double) {
  using limits = std::numeric_limits<TestType>;
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random{seed};
  std::uniform_real_distribution<TestType> draw{TestType{-1000}, TestType{1000}};
  std::vector<TestType> values{0,
                               -TestType{0},
                               1,
                               -1,
                               limits::min(),
                               limits::denorm_min(),
                               limits::max(),
                               limits::lowest(),
                               limits::infinity(),
                               -limits::infinity(),
                               limits::quiet_NaN(),
                               -limits::quiet_NaN()};
  for (int i = 0; i < 100; ++i) values.push_back(draw(random));
  const auto agree = [](TestType got, TestType expected) {
    return std::isnan(expected) ? std::isnan(got)
                                : got == expected && std::signbit(got) == std::signbit(expected);
  };
  for (const TestType a : values) {
    for (const TestType b : values) {
      INFO("a " << a << " b " << b);
      REQUIRE(agree(chorale::sum(a, b), std::plus<TestType>{}(a, b)));
      REQUIRE(agree(chorale::prod(a, b), std::multiplies<TestType>{}(a, b)));
      if (std::isnan(a) || std::isnan(b)) {
        REQUIRE(std::isnan(chorale::min(a, b)));
        REQUIRE(std::isnan(chorale::max(a, b)));
      } else {
        REQUIRE(agree(chorale::min(a, b), a == b ? a : std::fmin(a, b)));
        REQUIRE(agree(chorale::max(a, b), a == b ? a : std::fmax(a, b)));
      }
    }
  }
}

TEST_CASE("operators: bool by truth table", "[operators]") {
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      INFO(a << " " << b);
      const int ones = (a ? 1 : 0) + (b ? 1 : 0);
      CHECK(chorale::logical_and(a, b) == (ones == 2));
      CHECK(chorale::logical_or(a, b) == (ones >= 1));
      CHECK(chorale::logical_xor(a, b) == (ones == 1));
      CHECK(chorale::bitwise_and(a, b) == (ones == 2));
      CHECK(chorale::bitwise_or(a, b) == (ones >= 1));
      CHECK(chorale::bitwise_xor(a, b) == (ones == 1));
      CHECK(chorale::min(a, b) == (ones == 2));
      CHECK(chorale::max(a, b) == (ones >= 1));
    }
  }
}

TEST_CASE("operators: structs by their own operators; of equal operands the left one wins", "[operators]") {
  CHECK(chorale::sum(point{1, 2}, point{10, 20}) == point{11, 22});
  CHECK(chorale::min(located{3, 0}, located{3, 1}) == located{3, 0});
  CHECK(chorale::max(located{3, 0}, located{3, 1}) == located{3, 0});
  CHECK(chorale::min(located{4, 0}, located{3, 1}) == located{3, 1});
  CHECK(chorale::max(located{4, 1}, located{3, 0}) == located{4, 1});
  CHECK(chorale::bitwise_or(flags{5}, flags{2}) == flags{7});
  CHECK(chorale::bitwise_and(flags{5}, flags{4}) == flags{4});
  CHECK(chorale::bitwise_xor(flags{5}, flags{4}) == flags{1});
  CHECK(chorale::bitwise_xor(std::byte{0x0f}, std::byte{0xff}) == std::byte{0xf0});
  CHECK(chorale::prod(std::complex<double>{0, 1}, std::complex<double>{0, 1}) == std::complex<double>{-1, 0});
}
