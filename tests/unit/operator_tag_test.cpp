// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/combine.hpp>
#include <chorale/core/named.hpp>
#include <chorale/core/operator_tag.hpp>
#include <chorale/core/reduction.hpp>

#include "operator_tag_elsewhere.hpp"

namespace {

using chorale::named;
using chorale::operator_tag;

struct combination {
  int operator()(int a, int b) const { return a + b; }
};
const auto closure = [](int a, int b) { return a + b; };

template <class Op>
std::uint32_t tag_of(const Op&) {
  return operator_tag<Op>();
}

/// The tags of two closures in one function, different for each Which.
template <int Which>
std::pair<std::uint32_t, std::uint32_t> two_closures() {
  const auto one = [](int a, int b) { return a + b + Which; };
  const auto other = [](int a, int b) { return a * b + Which; };
  return {tag_of(one), tag_of(other)};
}

std::uint32_t tag_of_another_local() {
  struct local {
    int operator()(int a, int b) const { return a * b; }
  };
  return tag_of(local{});
}

int sum_of(int a, int b) {
  return a + b;
}

}  // namespace

TEST_CASE("operator tags: fixed for the library's operators", "[operators]") {
  const std::array<std::uint32_t, 12> ours{
      operator_tag<chorale::sum_t>(),         operator_tag<chorale::prod_t>(),
      operator_tag<chorale::min_t>(),         operator_tag<chorale::max_t>(),
      operator_tag<chorale::logical_and_t>(), operator_tag<chorale::logical_or_t>(),
      operator_tag<chorale::logical_xor_t>(), operator_tag<chorale::bitwise_and_t>(),
      operator_tag<chorale::bitwise_or_t>(),  operator_tag<chorale::bitwise_xor_t>(),
      operator_tag<chorale::min_at_t>(),      operator_tag<chorale::max_at_t>()};
  const std::array<std::string, 12> names{"sum",         "prod",        "min",         "max",
                                          "logical_and", "logical_or",  "logical_xor", "bitwise_and",
                                          "bitwise_or",  "bitwise_xor", "min_at",      "max_at"};
  for (std::uint32_t i = 0; i < ours.size(); ++i) {
    CHECK(ours[i] == i + 1);  // different binaries exchange these: they must not change
    CHECK(chorale::describe_operator(ours[i]) == names[i]);
  }
  STATIC_REQUIRE(operator_tag<const chorale::sum_t&>() == operator_tag<chorale::sum_t>());
  CHECK(chorale::describe_operator(0) == "no operator");
}

TEST_CASE("operator tags: different types have different tags, even if a compiler spells them alike",
          "[operators]") {
  const auto first = [](int a, int b) { return a + b; };
  const auto second = [](int a, int b) { return a * b; };
  const auto left = [](auto a, auto) { return a; };
  const auto right = [](auto, auto b) { return b; };
  struct local {
    int operator()(int a, int b) const { return a + b; }
  };
  std::vector<std::uint32_t> tags{tag_of(first),
                                  tag_of(second),
                                  tag_of(left),
                                  tag_of(right),
                                  tag_of(closure),
                                  tag_of(local{}),
                                  tag_of(combination{}),
                                  tag_of(elsewhere::shared{}),
                                  tag_of(elsewhere::shared_closure()),
                                  elsewhere::tag_of_combination(),
                                  elsewhere::tag_of_closure(),
                                  two_closures<1>().first,
                                  two_closures<1>().second,
                                  two_closures<2>().first,
                                  two_closures<2>().second};
  tags.push_back(tag_of_another_local());
  CHECK(std::set(tags.begin(), tags.end()).size() == tags.size());
  for (const std::uint32_t tag : tags) CHECK(tag >= 0x8000'0000U);
  CHECK(first(1, 2) + second(1, 2) + left(1, 2) + right(1, 2) + closure(1, 2) == 11);
}

TEST_CASE("operator tags: a type has the same tag in every file and every time", "[operators]") {
  CHECK(elsewhere::tag_of_shared() == operator_tag<elsewhere::shared>());
  CHECK(elsewhere::tag_of_shared() == operator_tag<const elsewhere::shared&>());
  CHECK(elsewhere::tag_of_shared_closure() == tag_of(elsewhere::shared_closure()));
  CHECK(two_closures<1>() == two_closures<1>());
  const auto captures = [](int by) { return [by](int a, int b) { return a + b + by; }; };
  CHECK(tag_of(captures(1)) == tag_of(captures(2)));  // the state is not compared
}

TEST_CASE("operator tags: the tag of a named operator depends only on its name", "[operators]") {
  const auto mine = named<"combination">(sum_of);
  STATIC_REQUIRE(operator_tag<decltype(mine)>() >= 0x8000'0000U);
  CHECK(tag_of(mine) == elsewhere::tag_of_named());
  CHECK(tag_of(mine) != tag_of(named<"combinations">(sum_of)));
  CHECK(tag_of(named<"function">(std::function<int(int, int)>{sum_of})) ==
        tag_of(named<"function">(closure)));
  CHECK(mine(3, 4) == 7);
  CHECK(named<"a sum">(std::plus<>{})(127, 1) == 128);
  STATIC_REQUIRE(chorale::reduction_operator<decltype(mine), int>);
  STATIC_REQUIRE(!chorale::reduction_operator<decltype(mine), std::string>);
  STATIC_REQUIRE(sizeof(named<"empty">(combination{})) == 1);
  // A named operator still commutes, and signed integers wrap.
  STATIC_REQUIRE(chorale::commutes<decltype(named<"a sum">(chorale::sum)), int>);
  STATIC_REQUIRE(!chorale::commutes<decltype(mine), int>);
  STATIC_REQUIRE(named<"a sum">(std::plus<>{})(std::numeric_limits<int>::max(), 1) ==
                 std::numeric_limits<int>::min());
}

TEST_CASE("operator tags: errors name the operator", "[operators]") {
  CHECK(chorale::describe_operator(tag_of(named<"largest residual">(sum_of))) ==
        "user operator 'largest residual'");
  CHECK(chorale::describe_operator(elsewhere::tag_of_named()) == "user operator 'combination'");
  const auto unnamed = chorale::describe_operator(tag_of(combination{}));
  INFO(unnamed);
  CHECK(unnamed.find("unnamed user operator '") == 0);
  CHECK(unnamed.find("combination' (tag ") != std::string::npos);
  CHECK(unnamed != chorale::describe_operator(elsewhere::tag_of_combination()));
  for (const std::uint32_t unknown : {0x8000'0000U, 13U})
    CHECK_THAT(chorale::describe_operator(unknown),
               Catch::Contains("that this program does not have") && Catch::Contains("chorale::named"));
}
