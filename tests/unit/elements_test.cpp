// SPDX-License-Identifier: Apache-2.0
// Elements whose size is known only at run time, and operators on their bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/byte_operator.hpp>
#include <chorale/core/elements.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/named.hpp>
#include <chorale/core/operator_tag.hpp>
#include <chorale/core/reduction.hpp>

using chorale::byte_operator;
using chorale::elements;
using chorale::reduction;

// A view is not sent as the bytes of its pointer.
static_assert(!chorale::element<elements<std::byte>> && !chorale::element<elements<const std::byte>>);
static_assert(!chorale::element<byte_operator>);

namespace {

/// left * 2 + right in each byte: not associative, but shows the order and side of operands.
std::byte mixed(std::byte left, std::byte right) {
  return static_cast<std::byte>(std::to_integer<unsigned>(left) * 2 + std::to_integer<unsigned>(right));
}

/// An operator that does this for elements of `size` bytes and fails if operands are not aligned to
/// `alignment`.
byte_operator mix(std::size_t size, std::size_t alignment, bool commutes = false) {
  return {"mix",
          [=](const std::byte* left, std::byte* right, std::size_t count) {
            if (reinterpret_cast<std::uintptr_t>(left) % alignment != 0 ||
                reinterpret_cast<std::uintptr_t>(right) % alignment != 0)
              throw std::logic_error("an operand is not aligned");
            if (count == 0) throw std::logic_error("nothing to do");
            for (std::size_t i = 0; i < count * size; ++i) right[i] = mixed(left[i], right[i]);
          },
          commutes};
}

template <class Call>
void check_refused(Call call, const std::string& words) {
  try {
    call();
    FAIL("not refused: " << words);
  } catch (const chorale::error& e) {
    CHECK(e.code() == chorale::errc::invalid_argument);
    CHECK_THAT(e.what(), Catch::Contains(words));
  }
}

}  // namespace

TEST_CASE("elements: bytes and element size", "[elements]") {
  std::vector<std::byte> memory(24);
  const elements all{std::span{memory}, 8};
  CHECK(all.size() == 3);
  CHECK(all.element_bytes() == 8);
  CHECK(all.bytes().data() == memory.data());
  CHECK(chorale::describe_type(all.type()) == "8-byte struct");
  int numbers[4] = {};
  const elements<std::byte> ints{numbers, 4, sizeof(int), chorale::type_tag<int>()};
  CHECK(ints.bytes().size() == 16);
  CHECK(ints.type() == chorale::type_tag<int>());
  const elements<const std::byte> read = ints;
  CHECK(read.bytes().data() == ints.bytes().data());
  CHECK(read.type() == ints.type());
  STATIC_REQUIRE(
      std::is_same_v<decltype(elements{std::span<const std::byte>{}, 4}), elements<const std::byte>>);
  STATIC_REQUIRE(
      std::is_same_v<decltype(elements{static_cast<const int*>(numbers), 4, 4}), elements<const std::byte>>);
  STATIC_REQUIRE(std::is_same_v<decltype(elements{numbers, 4, 4}), elements<std::byte>>);
  STATIC_REQUIRE(!std::is_convertible_v<elements<const std::byte>, elements<std::byte>>);
  CHECK(elements{std::span<std::byte>{}, 100}.size() == 0);
  CHECK(elements<std::byte>{nullptr, 0, 100}.size() == 0);
}

TEST_CASE("elements: sizes that do not fit are refused", "[elements]") {
  std::byte memory[10];
  check_refused(
      [&] {
        elements{std::span{memory}, 4};
      },
      "10 bytes are not a whole number of elements of 4 bytes");
  check_refused([&] { elements{std::span{memory}, 0}; }, "the size of one element is 0");
  check_refused([&] { elements{memory, 3, 0}; }, "the size of one element is 0");
  check_refused([&] { elements{memory, std::size_t{1} << 62, 8}; }, "more than memory can hold");
  check_refused(
      [&] {
        elements{memory, 1, 8, chorale::type_tag<int>()};
      },
      "the size of one element is 8 bytes, which is not that of the type, int32");
  using found = std::pair<double, int>;
  CHECK(elements{memory, 0, sizeof(found), chorale::type_tag<found>()}.type() == chorale::type_tag<found>());
}

TEST_CASE("byte operators: names, tags, refusals", "[elements]") {
  const auto op = mix(4, 4);
  CHECK(op.name() == "mix");
  CHECK(op.tag() == chorale::operator_tag<decltype(chorale::named<"mix">(chorale::sum))>());
  CHECK(op.tag() != byte_operator("mux", [](auto...) {}).tag());
  CHECK(chorale::describe_operator(op.tag()) == "user operator 'mix'");
  std::uint32_t tag = 0;
  {
    const byte_operator first{std::string("fleeting"), [](auto...) {}};
    const byte_operator copy = first;
    tag = copy.tag();
    CHECK(chorale::describe_operator(tag) == "user operator 'fleeting'");
  }
  CHECK_THAT(chorale::describe_operator(tag), Catch::Contains("does not have"));
  check_refused([] { byte_operator("", [](auto...) {}); }, "the name is empty");
  check_refused([] { byte_operator("nothing", nullptr); }, "byte_operator 'nothing': the function is empty");
  check_refused([&] { reduction::of_bytes(op, 0); }, "the size of one element is 0");
}

TEST_CASE("byte operators: operands keep their sides, at any count, size and alignment", "[elements]") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random{seed};
  for (const std::size_t size : {1U, 2U, 3U, 4U, 8U, 12U, 16U, 24U, 1000U, 5000U}) {
    std::size_t alignment = 1;
    while (size % (alignment * 2) == 0 && alignment < 16) alignment *= 2;
    for (const std::size_t n : {0U, 1U, 2U, 7U, 700U}) {
      if (n * size > 100'000) continue;
      for (const std::size_t left_skew : {0U, 1U, 8U}) {
        for (const std::size_t right_skew : {0U, 1U, 4U}) {
          INFO(n << " elements of " << size << " bytes, skews " << left_skew << " and " << right_skew);
          const std::size_t bytes = n * size;
          std::vector<std::byte> left(bytes + 32), right(bytes + 32), expected(bytes);
          for (auto& b : left) b = static_cast<std::byte>(random());
          for (auto& b : right) b = static_cast<std::byte>(random());
          const std::span l{left.data() + left_skew, bytes}, r{right.data() + right_skew, bytes};
          for (std::size_t i = 0; i < bytes; ++i) expected[i] = mixed(l[i], r[i]);
          const auto op = reduction::of_bytes(mix(size, alignment), size);
          CHECK(op.element_bytes() == size);
          CHECK_FALSE(op.commutes());
          auto before = left;
          auto result = right;
          op.combine_right(l, {result.data() + right_skew, bytes});
          CHECK(std::equal(expected.begin(), expected.end(),
                           result.begin() + static_cast<std::ptrdiff_t>(right_skew)));
          CHECK(left == before);
          CHECK(std::equal(result.begin() + static_cast<std::ptrdiff_t>(right_skew + bytes), result.end(),
                           right.begin() + static_cast<std::ptrdiff_t>(right_skew + bytes)));
          before = right;
          op.combine_left(l, r);
          CHECK(std::equal(expected.begin(), expected.end(), l.begin()));
          CHECK(right == before);
        }
      }
    }
  }
}

TEST_CASE("byte operators: those that commute write to an operand in place", "[elements]") {
  const auto op = reduction::of_bytes(mix(1, 1, true), 1);
  CHECK(op.commutes());
  std::byte mine[1] = {std::byte{1}};
  const std::byte right[1] = {std::byte{5}};
  op.combine_left(mine, right);
  CHECK(mine[0] == std::byte{11});  // operands exchanged, since it commutes
}

TEST_CASE("byte operators: exceptions propagate, and the function lives as long as the reduction",
          "[elements]") {
  reduction op;
  {
    const auto token = std::make_shared<int>(3);
    op = reduction::of_bytes(
        {"throws", [token](const std::byte*, std::byte*,
                           std::size_t) { throw std::domain_error(std::to_string(*token)); }},
        4);
  }
  const reduction copy = op;
  op = {};
  std::byte a[8] = {}, b[8] = {};
  CHECK_THROWS_WITH(copy.combine_left(a, b), "3");
  CHECK_THROWS_WITH(copy.combine_right(b, std::span{a}), "3");
}
