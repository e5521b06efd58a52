// SPDX-License-Identifier: Apache-2.0
// Element types, their tags, and the loops that combine arrays.
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/combine.hpp>
#include <chorale/core/operators.hpp>

namespace {

using chorale::element;

struct pair_of_ints {
  std::int32_t a, b;
};
struct constant {
  const int value;
  explicit constant(int v) : value(v) {}  // no default constructor, not assignable
};
struct derived_pointer {
  virtual ~derived_pointer() = default;
};
enum class colour : std::uint8_t { red };

static_assert(element<int> && !element<int*> && !element<const int> && !element<int&> &&
              !element<volatile int>);
static_assert(element<pair_of_ints> && !element<std::string> && !element<derived_pointer> &&
              !element<std::vector<int>>);
static_assert(element<bool> && element<std::byte> && element<colour> && element<long double>);
static_assert(!element<void> && !element<std::nullptr_t> && !element<int[2]> && element<std::array<int, 2>>);
static_assert(!element<int pair_of_ints::*> && !element<void()> && !element<void (*)()>);

/// x -> scale x + shift modulo 2^64; composition is associative but does not commute.
struct affine {
  std::uint64_t scale, shift;
};
struct compose {
  affine operator()(const affine& f, const affine& g) const {
    return {f.scale * g.scale, f.scale * g.shift + f.shift};
  }
};
struct minus {
  template <class T>
  T operator()(const T& a, const T& b) const {
    if constexpr (std::is_integral_v<T>)  // wraps
      return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
    else
      return a - b;
  }
};

template <class T>
T draw(std::mt19937_64& random) {
  if constexpr (std::is_same_v<T, affine>)
    return {random(), random()};
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(std::uniform_real_distribution<double>{-100, 100}(random));
  else
    return static_cast<T>(random());
}

/// Runs the loops on `n` elements with operands `left_skew` and `right_skew` bytes off an aligned
/// address.
template <class T, class Op>
void check(std::size_t n, std::size_t left_skew, std::size_t right_skew, const Op& op,
           std::mt19937_64& random) {
  std::vector<T> left(n), right(n), expected(n);
  for (std::size_t i = 0; i < n; ++i) {
    left[i] = draw<T>(random);
    right[i] = draw<T>(random);
    expected[i] = op(left[i], right[i]);
  }
  const std::size_t bytes = n * sizeof(T);
  constexpr std::size_t guard = 64;
  const auto buffer = [&](const std::vector<T>& from, std::size_t skew) {
    std::vector<std::byte> b(bytes + 2 * guard, std::byte{0xa5});
    if (bytes != 0) std::memcpy(b.data() + guard + skew, from.data(), bytes);
    return b;
  };
  const auto intact = [&](const std::vector<std::byte>& b, std::size_t skew) {
    for (std::size_t i = 0; i < b.size(); ++i)
      if ((i < guard + skew || i >= guard + skew + bytes) && b[i] != std::byte{0xa5}) return false;
    return true;
  };
  const auto equal = [&](const std::byte* got) {
    return bytes == 0 || std::memcmp(got, expected.data(), bytes) == 0;
  };
  INFO("n " << n << " of " << sizeof(T) << " bytes, skews " << left_skew << " and " << right_skew);
  auto l = buffer(left, left_skew);
  auto r = buffer(right, right_skew);
  auto* const lp = l.data() + guard + left_skew;
  auto* const rp = r.data() + guard + right_skew;
  auto out = buffer(left, right_skew);
  auto* const op_out = out.data() + guard + right_skew;

  chorale::combine<T>(std::as_const(lp), std::as_const(rp), op_out, n, op);
  REQUIRE(equal(op_out));
  REQUIRE(intact(out, right_skew));
  chorale::combine<T>(std::as_const(lp), std::as_const(rp), rp, n, op);
  REQUIRE(equal(rp));
  REQUIRE(intact(r, right_skew));
  if (bytes != 0) REQUIRE(std::memcmp(lp, left.data(), bytes) == 0);
  if (bytes != 0) std::memcpy(rp, right.data(), bytes);
  chorale::combine<T>(std::as_const(lp), std::as_const(rp), lp, n, op);
  REQUIRE(equal(lp));
  REQUIRE(intact(l, left_skew));
  if (bytes != 0) REQUIRE(std::memcmp(rp, right.data(), bytes) == 0);

  auto typed = right;
  chorale::combine(left.data(), typed.data(), typed.data(), n, op);
  REQUIRE(equal(reinterpret_cast<const std::byte*>(typed.data())));
  typed = left;
  chorale::combine(typed.data(), right.data(), typed.data(), n, op);
  REQUIRE(equal(reinterpret_cast<const std::byte*>(typed.data())));
  std::vector<T> third(n);
  chorale::combine(left.data(), right.data(), third.data(), n, op);
  REQUIRE(equal(reinterpret_cast<const std::byte*>(third.data())));
}

template <class T, class Op>
void check_all(const Op& op) {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937_64 random{seed};
  for (const std::size_t n : {0U, 1U, 2U, 3U, 7U, 16U, 17U, 64U, 1000U})
    for (const std::size_t left : {0U, 1U, 3U, 4U, 8U})
      for (const std::size_t right : {0U, 1U, 2U, 4U, 8U}) check<T>(n, left, right, op, random);
}

}  // namespace

template <>
inline constexpr bool chorale::enable_element<constant> = true;

TEMPLATE_TEST_CASE("combine: the left operand stays left, at any count and alignment", "[operators]",
                   std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                   std::uint32_t, std::uint64_t, float, double) {
  check_all<TestType>(minus{});
  check_all<TestType>(chorale::sum);
  check_all<TestType>(chorale::max);
}

TEST_CASE("combine: structs, with an operator that does not commute", "[operators]") {
  check_all<affine>(compose{});
  check_all<affine>([](const affine& f, const affine& g) { return compose{}(f, g); });
}

TEST_CASE("combine: std::byte elements, and elements without a default constructor", "[operators]") {
  std::byte left[3] = {std::byte{1}, std::byte{2}, std::byte{4}};
  std::byte right[3] = {std::byte{8}, std::byte{2}, std::byte{5}};
  chorale::combine(left, right, right, 3, chorale::bitwise_or);
  CHECK(right[0] == std::byte{9});
  CHECK(right[2] == std::byte{5});
  chorale::combine(left, right, left, 3, chorale::bitwise_and);
  CHECK(left[0] == std::byte{1});
  CHECK(left[1] == std::byte{2});

  alignas(8) std::byte a[sizeof(constant) + 1], b[sizeof(constant) + 1];
  const int seven = 7, five = 5;
  std::memcpy(a + 1, &seven, sizeof seven);
  std::memcpy(b + 1, &five, sizeof five);
  chorale::combine<constant>(
      static_cast<const std::byte*>(a + 1), static_cast<const std::byte*>(b + 1), b + 1, 1,
      [](const constant& x, const constant& y) { return constant{x.value - y.value}; });
  int result = 0;
  std::memcpy(&result, b + 1, sizeof result);
  CHECK(result == 2);
}

TEST_CASE("types: tags hold kind and size, and are the same for all compilers", "[operators]") {
  using chorale::type_tag;
  STATIC_REQUIRE(type_tag<bool>() == 0x0100'0001);
  STATIC_REQUIRE(type_tag<char>() == 0x0200'0001);
  STATIC_REQUIRE(type_tag<chorale::detail::widest_integer>() ==
                 0x0300'0000 + sizeof(chorale::detail::widest_integer));
  STATIC_REQUIRE(type_tag<std::int8_t>() == 0x0300'0001);
  STATIC_REQUIRE(type_tag<std::int64_t>() == 0x0300'0008);
  STATIC_REQUIRE(type_tag<std::uint32_t>() == 0x0400'0004);
  STATIC_REQUIRE(type_tag<char16_t>() == type_tag<std::uint16_t>());
  STATIC_REQUIRE(type_tag<float>() == 0x0500'0004);
  STATIC_REQUIRE(type_tag<double>() == 0x0500'0008);
  STATIC_REQUIRE(type_tag<pair_of_ints>() == 0x0000'0008);
  STATIC_REQUIRE(type_tag<long long>() == type_tag<std::int64_t>());
  STATIC_REQUIRE(type_tag<std::int32_t>() != type_tag<float>());
  STATIC_REQUIRE(type_tag<std::array<char, 0x0100'0000>>() == 0x00ff'ffff);
  CHECK(chorale::describe_type(type_tag<std::int32_t>()) == "int32");
  CHECK(chorale::describe_type(type_tag<std::uint64_t>()) == "uint64");
  CHECK(chorale::describe_type(type_tag<double>()) == "float64");
  CHECK(chorale::describe_type(type_tag<bool>()) == "bool");
  CHECK(chorale::describe_type(type_tag<char>()) == "char");
  CHECK(chorale::describe_type(type_tag<pair_of_ints>()) == "8-byte struct");
  CHECK(chorale::describe_type(0) == "no element type");
  CHECK(chorale::describe_type(0xff00'0004U) == "unknown type (tag 4278190084)");
}

TEST_CASE("types: byte views cover the elements", "[operators]") {
  std::int32_t data[3] = {1, 2, 3};
  const std::span<std::int32_t> all{data};
  const auto bytes = chorale::bytes_of(all.subspan(1));
  CHECK(bytes.size() == 8);
  CHECK(static_cast<const void*>(bytes.data()) == data + 1);
  CHECK(chorale::bytes_of(std::span<const std::int32_t>{data}).size() == 12);
  CHECK(chorale::bytes_of(all.first<2>()).size() == 8);
  CHECK(chorale::bytes_of(all.first(0)).empty());
  CHECK(chorale::is_aligned_for<std::int32_t>(data));
  CHECK_FALSE(chorale::is_aligned_for<std::int32_t>(reinterpret_cast<char*>(data) + 2));
}
