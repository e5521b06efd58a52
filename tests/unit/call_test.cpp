// SPDX-License-Identifier: Apache-2.0
// The identity of a call: signatures differ if calls do, and texts describe the difference.
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/blocks.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/operator_tag.hpp>
#include <chorale/core/types.hpp>
#include <chorale/transport/status/status.hpp>

using chorale::call;
using chorale::operation;

namespace {

const call sum_of_two{.what = operation::allreduce,
                      .root = -1,
                      .bytes = 16,
                      .type = chorale::type_tag<double>(),
                      .reduction = chorale::operator_tag<chorale::sum_t>()};

call changed(void (*change)(call&)) {
  call c = sum_of_two;
  change(c);
  return c;
}

}  // namespace

TEST_CASE("a change of any field changes the signature", "[call]") {
  const std::vector<call> all{
      sum_of_two,
      changed([](call& c) { c.what = operation::reduce; }),
      changed([](call& c) { c.root = 0; }),
      changed([](call& c) { c.root = 1; }),
      changed([](call& c) { c.bytes = 17; }),
      changed([](call& c) { c.bytes += std::uint64_t{1} << 40; }),
      changed([](call& c) { c.counts = 1; }),
      changed([](call& c) { c.type = chorale::type_tag<float>(); }),
      changed([](call& c) { c.type = chorale::type_tag<std::int64_t>(); }),
      changed([](call& c) { c.reduction = chorale::operator_tag<chorale::max_t>(); }),
      changed([](call& c) { std::swap(c.type, c.reduction); }),
  };
  std::set<std::uint32_t> signatures;
  for (const auto& c : all) signatures.insert(c.signature());
  CHECK(signatures.size() == all.size());
  CHECK(sum_of_two.signature() == call{sum_of_two}.signature());
}

TEST_CASE("signatures of neighbouring calls do not collide", "[call]") {
  std::set<std::uint32_t> signatures;
  std::size_t calls = 0;
  for (const auto what : {operation::broadcast, operation::reduce, operation::allreduce}) {
    for (int root = -1; root < 33; ++root) {
      for (std::uint64_t bytes = 0; bytes < 64; ++bytes, ++calls)
        signatures.insert(call{.what = what, .root = root, .bytes = 8 * bytes}.signature());
    }
  }
  // 6528 of 2^32: a collision has odds of 1 in 200.
  CHECK(signatures.size() == calls);
}

TEST_CASE("a call is described by its operation, bytes and root", "[call]") {
  CHECK(sum_of_two.describe() == "allreduce of 16 bytes");
  CHECK(call{.what = operation::barrier}.describe() == "barrier");
  CHECK(call{.what = operation::broadcast, .root = 2, .bytes = 8}.describe() ==
        "broadcast of 8 bytes with root 2");
}

TEST_CASE("a difference names every field that differs and no other", "[call]") {
  const call other{.what = operation::reduce,
                   .root = 2,
                   .bytes = 8,
                   .type = chorale::type_tag<float>(),
                   .reduction = chorale::operator_tag<chorale::max_t>()};
  const std::string all = sum_of_two.difference(other);
  for (const auto* words : {"allreduce against reduce", "root -1 against 2", "16 against 8 bytes",
                            "float64 against float32", "sum against max"})
    CHECK(all.find(words) != std::string::npos);
  CHECK(sum_of_two.difference(changed([](call& c) { c.bytes = 8; })) == "16 against 8 bytes");
  CHECK(sum_of_two.difference(sum_of_two) == "the same arguments");
}

TEST_CASE("a status page holds the last seven calls", "[call]") {
  chorale::transport::status_page page;
  CHECK(!page.find(0));
  CHECK(!page.find(1));
  for (std::uint64_t n = 1; n <= 20; ++n)
    page.begin(n, {.what = operation::broadcast, .root = static_cast<int>(n)});
  for (std::uint64_t n = 14; n <= 20; ++n) {
    REQUIRE(page.find(n));
    CHECK(page.find(n)->root == static_cast<int>(n));
  }
  // The row of call 13 is the next to be overwritten, perhaps at this moment.
  CHECK(!page.find(13));
  CHECK(!page.find(21));
}

TEST_CASE("counts that differ change the signature, and one rank's are named", "[call]") {
  const auto of = [](std::vector<std::size_t> bytes) {
    std::vector<chorale::extent> places;
    for (const std::size_t b : bytes) places.push_back({0, b});
    const auto layout = chorale::block_layout::uneven(std::move(places));
    return call{.what = operation::allgatherv, .bytes = layout.total(), .counts = layout.counts()};
  };
  const call one = of({4, 8, 12, 0});
  CHECK(one.signature() == of({4, 8, 12, 0}).signature());
  CHECK(one.signature() != of({8, 4, 12, 0}).signature());
  CHECK(one.signature() != of({5, 6, 13, 0}).signature());  // same sum, same sum weighted by rank
  CHECK(one.difference(of({4, 8, 20, 0})) == "24 against 32 bytes, 8 bytes less in the block of rank 2");
  CHECK(one.difference(of({4, 8, 12, 1})) == "24 against 25 bytes, 1 bytes less in the block of rank 3");
  CHECK(of({4, 8, 12, 7}).difference(one) == "31 against 24 bytes, 7 bytes more in the block of rank 3");
  CHECK(one.difference(of({5, 8, 13, 0})) == "24 against 26 bytes, other counts of several ranks");
  CHECK(one.difference(of({8, 4, 12, 0})) == "other counts of several ranks");
}

TEST_CASE("a call has no more phases than a signal can tell apart", "[call]") {
  const chorale::call_id now{7, 42, operation::barrier};
  CHECK(now.later(1).later(2).phase() == 3);
  CHECK(now.later(3).number == 7);
  CHECK_THROWS_WITH(now.later(4), Catch::Contains("phase 4"));
  CHECK_THROWS_WITH(now.later(3).later(1), Catch::Contains("phase 4"));
  CHECK_THROWS_AS(now.later(-1), chorale::error);
}

TEST_CASE("the phase of a call, whether it parks and whether its sizes are private do not affect each other",
          "[call]") {
  const chorale::call_id now{7, 42, operation::gather};
  for (const bool parks : {false, true}) {
    for (const bool agrees : {false, true}) {
      for (int phase = 0; phase < chorale::call_id::most_phases; ++phase) {
        auto then = parks ? now.parking().later(phase) : now.later(phase);
        if (agrees) then = then.with_private_sizes();
        CHECK(then.parks() == parks);
        CHECK(then.has_private_sizes() == agrees);
        CHECK(then.phase() == phase);
        CHECK(then.what == operation::gather);
      }
    }
  }
  CHECK(chorale::call_id{7, 42, operation::gatherv}.has_private_sizes());
}
