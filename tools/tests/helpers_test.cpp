// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <chorale/algorithm/every_algorithm.hpp>
#include <chorale/core/type_name.hpp>

#include "../bench/loop.hpp"

TEST_CASE("percentiles are samples, by nearest rank") {
  const std::vector<double> ten{7, 1, 10, 4, 2, 9, 3, 8, 6, 5};
  CHECK(bench::percentile(ten, 10) == 1);
  CHECK(bench::percentile(ten, 11) == 2);
  CHECK(bench::percentile(ten, 50) == 5);
  CHECK(bench::percentile(ten, 90) == 9);
  CHECK(bench::percentile(ten, 99) == 10);
  CHECK(bench::percentile(ten, 100) == 10);
  CHECK(bench::percentile(ten, 0) == 1);
  CHECK(bench::percentile({3}, 99) == 3);
  CHECK(bench::percentile({}, 50) == 0);
}

TEST_CASE("the median of an even number of samples is between the two in the middle") {
  CHECK(bench::median({4, 1, 3}) == 3);
  CHECK(bench::median({4, 1, 3, 2}) == 2.5);
  CHECK(bench::median({5}) == 5);
  CHECK(bench::median({}) == 0);
}

TEST_CASE("sizes double and never exceed the largest") {
  using list = std::vector<std::size_t>;
  CHECK(bench::sizes(4, 32) == list{4, 8, 16, 32});
  CHECK(bench::sizes(4, 31) == list{4, 8, 16});
  CHECK(bench::sizes(3, 3) == list{3});
  CHECK(bench::sizes(0, 2) == list{1, 2});
  CHECK(bench::sizes(8, 4).empty());
  const auto most = std::numeric_limits<std::size_t>::max();
  CHECK(bench::sizes(most / 2 + 1, most) == list{most / 2 + 1});
}

TEST_CASE("a plan keeps to iterations and budget, and has samples in any case") {
  bench::limits l;
  l.iterations = 10'000;
  l.samples = 100;
  l.budget = 0.25;
  SECTION("short and quick calls") {
    const auto p = bench::plan_for(l, 4, 1e-7);
    CHECK(p.samples == 100);
    CHECK(p.calls == 100);
  }
  SECTION("long messages: fewer in proportion") {
    const auto p = bench::plan_for(l, 81920, 1e-7);
    CHECK(p.samples * p.calls == 1000);
  }
  SECTION("slow calls: as many as the budget has room for") {
    const auto p = bench::plan_for(l, 4, 1e-3);
    CHECK(p.samples == 100);
    CHECK(p.calls == 2);
  }
  SECTION("very slow calls: five samples of one") {
    const auto p = bench::plan_for(l, 4, 10);
    CHECK(p.samples == 5);
    CHECK(p.calls == 1);
  }
  SECTION("fewer samples wanted than that") {
    l.samples = 2;
    CHECK(bench::plan_for(l, 4, 10).samples == 2);
  }
  SECTION("no bytes, no time") {
    CHECK(bench::plan_for(l, 0, 0).calls == 100);
  }
}

TEST_CASE("policies are named as a program writes them") {
  CHECK(chorale::type_name<chorale::barrier::dissemination>() == "dissemination");
  CHECK(chorale::type_name<chorale::reduce::degree_k<3>>() == "degree_k<3>");
  CHECK(chorale::type_name<chorale::allreduce::degree_k<15, chorale::broadcast::flat>>() ==
        "degree_k<15, flat>");
}
