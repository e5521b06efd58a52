// SPDX-License-Identifier: Apache-2.0
// Arrays combined by wide vectors, compared with the operators' function objects applied to one element after
// the other.
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/combine.hpp>
#include <chorale/core/operators.hpp>
#include <chorale/core/wide_combine.hpp>

namespace {

using chorale::detail::combine_wide;
using chorale::detail::wide_operator;
using chorale::detail::wide_operator_of;
using chorale::detail::wide_type;
using chorale::detail::wide_type_of;

static_assert(wide_type_of<bool> == wide_type::none && wide_type_of<long double> == wide_type::none);
static_assert(wide_type_of<std::byte> == wide_type::none && wide_type_of<char32_t> == wide_type::u32);
static_assert(wide_type_of<long> == wide_type::i64 && wide_type_of<float> == wide_type::f32);
static_assert(wide_operator_of<chorale::logical_and_t> == wide_operator::none);

/// A quiet NaN with a sign and a payload.
template <std::floating_point T>
T nan_of(std::uint64_t number) {
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const auto given = static_cast<bits>(number % 1024 | (number & 1024) << (8 * sizeof(T) - 11));
  return std::bit_cast<T>(std::bit_cast<bits>(std::numeric_limits<T>::quiet_NaN()) | given);
}

template <class T>
T draw(std::mt19937_64& random) {
  if constexpr (std::is_floating_point_v<T>) {
    using limits = std::numeric_limits<T>;
    const T special[] = {T{0},
                         -T{0},
                         limits::infinity(),
                         -limits::infinity(),
                         limits::max(),
                         limits::min(),
                         limits::denorm_min(),
                         limits::quiet_NaN(),
                         -limits::quiet_NaN(),
                         nan_of<T>(random()),
                         limits::lowest()};
    if (random() % 8 == 0) return special[random() % std::size(special)];
    return static_cast<T>(std::uniform_real_distribution<double>{-1e9, 1e9}(random));
  } else {
    const T special[] = {T{0}, T{1}, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
    return random() % 8 == 0 ? special[random() % std::size(special)] : static_cast<T>(random());
  }
}

/// True if all bits are equal, also for NaN.
template <class T>
bool is_same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// `n` elements, `offset` bytes from an aligned address, between guard bytes.
template <class T>
class array {
 public:
  array(std::size_t n, std::size_t offset) : n_(n), offset_(offset), bytes_(n * sizeof(T) + 128, guard) {}

  [[nodiscard]] std::byte* data() { return bytes_.data() + 64 + offset_; }
  [[nodiscard]] T at(std::size_t i) {
    T value;
    std::memcpy(&value, data() + i * sizeof(T), sizeof value);
    return value;
  }
  void fill(std::mt19937_64& random) {
    for (std::size_t i = 0; i < n_; ++i) {
      const T value = draw<T>(random);
      std::memcpy(data() + i * sizeof(T), &value, sizeof value);
    }
  }
  [[nodiscard]] bool is_guarded() const {
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      if ((i < 64 + offset_ || i >= 64 + offset_ + n_ * sizeof(T)) && bytes_[i] != guard) return false;
    return true;
  }

 private:
  static constexpr std::byte guard{0xa5};
  std::size_t n_;
  std::size_t offset_;
  std::vector<std::byte> bytes_;
};

template <class T, class Op>
void compare(std::mt19937_64& random, std::size_t n, std::size_t offset) {
  array<T> left{n, offset};
  array<T> right{n, (offset * 3) % 64};
  array<T> out{n, (offset * 7) % 64};
  left.fill(random);
  right.fill(random);
  std::vector<T> expected;
  for (std::size_t i = 0; i < n; ++i) expected.push_back(Op{}(left.at(i), right.at(i)));
  const auto wide = [&](std::byte* to) {
    return combine_wide(wide_operator_of<Op>, wide_type_of<T>, left.data(), right.data(), to, n);
  };
  const auto check = [&](array<T>& result) {
    std::size_t wrong = n;
    for (std::size_t i = 0; i < n && wrong == n; ++i)
      if (!is_same(result.at(i), expected[i])) wrong = i;
    INFO("element " << wrong << " of " << n << ", offset " << offset);
    CHECK(wrong == n);
    CHECK(result.is_guarded());
  };
  if (!wide(out.data())) return;
  check(out);
  const array<T> left_before = left;
  REQUIRE(wide(left.data()));
  check(left);
  left = left_before;
  REQUIRE(wide(right.data()));
  check(right);
}

template <class T>
void compare_all(std::mt19937_64& random, std::size_t n, std::size_t offset) {
  compare<T, chorale::sum_t>(random, n, offset);
  compare<T, chorale::prod_t>(random, n, offset);
  compare<T, chorale::min_t>(random, n, offset);
  compare<T, chorale::max_t>(random, n, offset);
  if constexpr (std::is_integral_v<T>) {
    compare<T, chorale::bitwise_and_t>(random, n, offset);
    compare<T, chorale::bitwise_or_t>(random, n, offset);
    compare<T, chorale::bitwise_xor_t>(random, n, offset);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("wide vectors combine as the operators do", "[operators]", std::int8_t, std::int16_t,
                   std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t,
                   float, double, char, long, unsigned long long) {
  std::byte nothing{};
  if (!combine_wide(wide_operator::sum, wide_type::u8, &nothing, &nothing, &nothing, 1)) {
    WARN("skipped: this processor has no wider vectors than each of its kind");
    return;
  }
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937_64 random{seed};
  for (const std::size_t n :
       {0U, 1U, 2U, 3U, 7U, 8U, 15U, 16U, 17U, 31U, 32U, 33U, 63U, 64U, 65U, 100U, 1000U, 4099U})
    for (const std::size_t offset : {0U, 1U, 4U, 16U, 33U}) compare_all<TestType>(random, n, offset);
}

TEST_CASE("wide vectors refuse unsupported types and operators", "[operators]") {
  std::byte value{1};
  const auto refuses = [&](wide_operator op, wide_type type) {
    return !combine_wide(op, type, &value, &value, &value, 1) && value == std::byte{1};
  };
  CHECK(refuses(wide_operator::none, wide_type::i32));
  CHECK(refuses(wide_operator::sum, wide_type::none));
  CHECK(refuses(wide_operator::bitwise_and, wide_type::f32));
  CHECK(refuses(wide_operator::bitwise_xor, wide_type::f64));
}

TEST_CASE("loops over arrays give the same results whether or not they are long enough for wide vectors",
          "[operators]") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937_64 random{seed};
  for (const std::size_t n : {127U, 128U, 129U, 1001U}) {
    std::vector<float> left(n);
    std::vector<float> right(n);
    for (float& value : left) value = draw<float>(random);
    for (float& value : right) value = draw<float>(random);
    const auto bytes = [](std::vector<float>& of) { return reinterpret_cast<std::byte*>(of.data()); };
    auto down = right;
    chorale::combine<float>(bytes(left), bytes(down), bytes(down), n, chorale::sum);
    auto up = left;
    chorale::combine<float>(bytes(up), bytes(right), bytes(up), n, chorale::sum);
    std::vector<float> apart(n);
    chorale::combine<float>(bytes(left), bytes(right), bytes(apart), n, chorale::sum);
    for (std::size_t i = 0; i < n; ++i) {
      const float expected = chorale::sum(left[i], right[i]);
      INFO(n << " elements, element " << i);
      REQUIRE(is_same(down[i], expected));
      REQUIRE(is_same(up[i], expected));
      REQUIRE(is_same(apart[i], expected));
    }
  }
}
