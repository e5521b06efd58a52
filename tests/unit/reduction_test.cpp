// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/reduction.hpp>

using chorale::reduction;
using chorale::reduction_operator;

namespace {

/// Returns the left operand, which shows the side of operands.
struct left_of {
  std::uint32_t operator()(std::uint32_t l, std::uint32_t) const { return l; }
};
struct says_it_commutes {
  static constexpr bool commutes = true;
  std::uint32_t operator()(std::uint32_t l, std::uint32_t r) const { return l ^ r; }
};
/// Too large for a reduction's internal storage.
struct large {
  std::array<std::uint32_t, 32> table;
  std::uint32_t operator()(std::uint32_t l, std::uint32_t r) const { return table[(l + r) % 32]; }
};
/// Counts its live copies.
struct counted {
  std::shared_ptr<int> token;
  std::uint32_t operator()(std::uint32_t l, std::uint32_t r) const { return l + r; }
};

template <class T>
std::vector<T> combined(const reduction& op, const std::vector<T>& a, const std::vector<T>& b, bool left,
                        std::size_t misalignment = 0) {
  std::vector<std::byte> x(misalignment + a.size() * sizeof(T)), y(misalignment + b.size() * sizeof(T));
  const auto mine = std::span{x}.subspan(misalignment);
  const auto other = std::span{y}.subspan(misalignment);
  std::ranges::copy(std::as_bytes(std::span{a}), mine.begin());
  std::ranges::copy(std::as_bytes(std::span{b}), other.begin());
  if (left)
    op.combine_left(mine, other);
  else
    op.combine_right(other, mine);
  std::vector<T> result(a.size());
  std::ranges::copy(mine, std::as_writable_bytes(std::span{result}).begin());
  return result;
}

using words = std::vector<std::uint32_t>;

}  // namespace

// Complex numbers have no order.
static_assert(reduction_operator<chorale::sum_t, std::complex<float>>);
// Also where the standard library does not take these for integers.
static_assert(chorale::commutes<chorale::sum_t, chorale::detail::widest_integer> &&
              chorale::commutes<chorale::bitwise_xor_t, chorale::detail::widest_unsigned> &&
              chorale::detail::is_exact<chorale::detail::widest_integer, chorale::sum_t>);
static_assert(chorale::sum(static_cast<chorale::detail::widest_integer>(1) << 126,
                           static_cast<chorale::detail::widest_integer>(1) << 126) < 0);
static_assert(reduction_operator<chorale::prod_t, std::complex<double>>);
static_assert(!reduction_operator<chorale::min_t, std::complex<float>>);
static_assert(!reduction_operator<chorale::max_t, std::complex<double>>);

TEST_CASE("operands keep their sides", "[reduction]") {
  const auto op = reduction::of<std::uint32_t>(left_of{});
  for (const std::size_t misalignment : {0U, 1U, 3U}) {
    CHECK(combined<std::uint32_t>(op, {1, 2, 3}, {7, 8, 9}, true, misalignment) == words{1, 2, 3});
    CHECK(combined<std::uint32_t>(op, {1, 2, 3}, {7, 8, 9}, false, misalignment) == words{7, 8, 9});
  }
}

TEST_CASE("a reduction holds its operator, small or large", "[reduction]") {
  large op{};
  for (std::uint32_t i = 0; i < 32; ++i) op.table[i] = 100 + i;
  reduction copy;
  {
    const auto first = reduction::of<std::uint32_t>(op);
    copy = first;
  }
  CHECK(combined<std::uint32_t>(copy, {1, 30}, {2, 3}, true) == words{103, 101});
  const auto token = std::make_shared<int>();
  {
    const auto held = reduction::of<std::uint32_t>(counted{token});
    const reduction another = held;
    CHECK(combined<std::uint32_t>(another, {1}, {2}, true) == words{3});
    CHECK(token.use_count() > 1);
  }
  CHECK(token.use_count() == 1);
}

TEST_CASE("whole elements", "[reduction]") {
  const auto op = reduction::of<std::complex<double>>(chorale::sum);
  CHECK(op.element_bytes() == 16);
  CHECK(op.whole(0) == 16);
  CHECK(op.whole(15) == 16);
  CHECK(op.whole(16) == 16);
  CHECK(op.whole(47) == 32);
}

TEST_CASE("which operators commute", "[reduction]") {
  CHECK(reduction::of<int>(chorale::sum).commutes());
  CHECK(reduction::of<double>(chorale::min).commutes());
  CHECK(reduction::of<std::complex<float>>(chorale::prod).commutes());
  CHECK(reduction::of<std::uint32_t>(says_it_commutes{}).commutes());
  CHECK_FALSE(reduction::of<std::uint32_t>(left_of{}).commutes());
}

TEST_CASE("empty operands", "[reduction]") {
  CHECK(combined<std::uint32_t>(reduction::of<std::uint32_t>(chorale::sum), {}, {}, true).empty());
}

namespace {

template <class T>
void check_short_float() {
  const auto of = [](float x) { return static_cast<T>(x); };
  CHECK(static_cast<float>(chorale::sum(of(1.5F), of(2.25F))) == 3.75F);
  CHECK(static_cast<float>(chorale::prod(of(1.5F), of(-2.0F))) == -3.0F);
  CHECK(static_cast<float>(chorale::min(of(1.5F), of(-2.0F))) == -2.0F);
  CHECK(static_cast<float>(chorale::max(of(1.5F), of(-2.0F))) == 1.5F);
  const T nan = of(std::numeric_limits<float>::quiet_NaN());
  for (const T result : {chorale::min(nan, of(1)), chorale::min(of(1), nan), chorale::max(nan, of(1)),
                         chorale::max(of(1), nan)})
    CHECK(result != result);
  CHECK(reduction::of<T>(chorale::sum).commutes());
  static_assert(!reduction_operator<chorale::logical_and_t, T>);
}

}  // namespace

TEST_CASE("floating-point numbers of 16 bits", "[reduction]") {
#if defined(CHORALE_HAS_FLOAT16)
  check_short_float<_Float16>();
  CHECK(chorale::describe_type(chorale::type_tag<_Float16>()) == "float16");
#endif
#if defined(CHORALE_HAS_BFLOAT16)
  check_short_float<__bf16>();
  CHECK(chorale::describe_type(chorale::type_tag<__bf16>()) == "bfloat16");
#endif
#if !defined(CHORALE_HAS_FLOAT16) && !defined(CHORALE_HAS_BFLOAT16)
  WARN("skipped: this compiler has neither _Float16 nor __bf16");
#endif
}
