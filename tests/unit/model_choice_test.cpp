// SPDX-License-Identifier: Apache-2.0
// The choice by formulas: the switch points of the papers.
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/error.hpp>
#include <chorale/model/tuning.hpp>

#include "../../lib/model/cost.hpp"
#include "../../lib/model/paper_models.hpp"

using namespace chorale::model;
using chorale::operation;

namespace {

/// The name of the algorithm chosen for `bytes`.
std::string chosen(operation what, int ranks, std::size_t bytes, const std::vector<std::string>& names,
                   const message_cost& cost = {}) {
  for (const auto& r : rules_by_formula(what, ranks, names, cost)) {
    if (bytes <= r.up_to) return names[static_cast<std::size_t>(r.algorithm)];
  }
  return "none";
}

/// P2's parameters (section 6.2.1) as message costs.
message_cost giganet() {
  const event_costs events;
  message_cost cost;
  cost.start = events.library + events.descriptor + 2 * (events.startup + events.adapter);
  cost.byte = events.transmit_byte;
  cost.combine = events.combine_byte;
  cost.further = events.startup;
  return cost;
}

const std::vector<std::string> degrees{"degree_k<1>", "degree_k<3>", "degree_k<7>", "degree_k<15>"};
const std::vector<std::string> of_p4{"recursive_doubling", "bruck", "ring"};
const std::vector<std::string> allgathers{"recursive_doubling", "bruck", "direct", "ring"};

}  // namespace

TEST_CASE("P4 section 2.3: the costs of the allgathers", "[model]") {
  const hockney_costs cost{2, 0.01};
  CHECK(recursive_doubling_allgather(16, 100, cost) == Approx(2 * 4 + 15 * 100 * 0.01));
  CHECK(ring_allgather(16, 100, cost) == Approx(15 * (2 + 100 * 0.01)));
  CHECK(ring_allgather(13, 100, cost) == Approx(12 * (2 + 100 * 0.01)));
  // With 13 ranks 5 fold: five steps of ts, the last with all 13 blocks.
  CHECK(recursive_doubling_allgather(13, 100, cost) == Approx(2 * 5 + (12 + 13) * 100 * 0.01));
  CHECK(recursive_doubling_allgather(1, 100, cost) == 0);
  CHECK(ring_allgather(1, 100, cost) == 0);
  CHECK_THROWS_AS(ring_allgather(0, 1, cost), chorale::error);
  CHECK_THROWS_AS(recursive_doubling_allgather(0, 1, cost), chorale::error);
}

TEST_CASE("formulas follow the papers", "[model]") {
  const message_cost cost{2, 0.01, 0, 0.5};
  CHECK(*estimate(operation::allgather, "recursive_doubling", 16, 100, cost) ==
        Approx(2 * 4 + 15 * 100 * 0.01));
  CHECK(*estimate(operation::allgather, "ring", 16, 100, cost) == Approx(15 * (2 + 100 * 0.01)));
  CHECK(*estimate(operation::barrier, "dissemination", 13, 0, cost) == Approx(4 * 2));
  CHECK(*estimate(operation::barrier, "pairwise_exchange", 13, 0, cost) == Approx(5 * 2));
  CHECK(*estimate(operation::barrier, "dissemination_k<3>", 16, 0, cost) == Approx(2 * (2 + 2 * 0.5)));
  CHECK(*estimate(operation::broadcast, "flat", 5, 100, cost) == Approx(3 + 3 * (0.5 + 1)));
  CHECK(*estimate(operation::broadcast, "binomial", 13, 100, cost) == Approx(4 * 3));
  CHECK(*estimate(operation::reduce, "degree_k<3>", 16, 0, cost) == Approx(2 * (2 + 2 * 0.5)));
  CHECK(*estimate(operation::reduce, "degree_k<15>", 16, 0, cost) == Approx(2 + 14 * 0.5));
  CHECK(*estimate(operation::allreduce, "degree_k<3>", 16, 0, cost) == Approx(2 * (2 + 2 * 0.5) + 4 * 2));
  CHECK(*estimate(operation::allreduce, "degree_k<15, flat>", 16, 0, cost) == Approx(2 * (2 + 14 * 0.5)));
  CHECK_FALSE(estimate(operation::allgather, "my_own", 4, 8, cost));
  CHECK_FALSE(estimate(operation::allgather, "my_own", 1, 8, cost));
  CHECK_FALSE(estimate(operation::allreduce, "degree_k", 4, 8, cost));
  CHECK_FALSE(estimate(operation::reduce, "degree_k<2>", 4, 8, cost));
  CHECK(rules_by_formula(operation::allgather, 4, std::vector<std::string>{"my_own"}).empty());
}

TEST_CASE("estimates are finite for all algorithms of the library", "[model]") {
  for (const auto& m : tuning_table::built_in()->rows()) {
    for (const int ranks : {1, 2, 3, 5, 7, 13, 33, 100000}) {
      for (const std::size_t bytes :
           {std::size_t{0}, std::size_t{1}, std::size_t{8193}, std::size_t{1} << 40}) {
        const auto us = estimate(m.what, m.algorithm, ranks, bytes);
        if (us && (!(*us >= 0) || *us > 1e18))
          FAIL(m.algorithm << ", " << ranks << " ranks, " << bytes << " bytes: " << *us);
      }
    }
  }
}

TEST_CASE("with P2's parameters the degrees of P2 figure 11 are chosen", "[model]") {
  const auto degree = [](int ranks, std::size_t bytes) {
    return chosen(operation::reduce, ranks, bytes, degrees, giganet());
  };
  for (const std::size_t bytes : std::initializer_list<std::size_t>{4, 256, 1024}) {
    CHECK(degree(4, bytes) == "degree_k<3>");
    CHECK(degree(8, bytes) == (bytes <= 256 ? "degree_k<7>" : "degree_k<3>"));
    for (const int ranks : {16, 512, 1024}) CHECK(degree(ranks, bytes) == "degree_k<3>");
  }
  for (const int ranks : {4, 8, 16, 512, 1024}) {
    for (const std::size_t bytes : std::initializer_list<std::size_t>{1025, 4096, 5000, 1 << 20})
      CHECK(degree(ranks, bytes) == "degree_k<1>");
  }
}

TEST_CASE("degree 3 is chosen on 16 ranks, since each sender costs a startup", "[model]") {
  CHECK(chosen(operation::reduce, 16, 8, degrees) == "degree_k<3>");
  CHECK(chosen(operation::reduce, 1024, 8, degrees) == "degree_k<3>");
  CHECK(chosen(operation::reduce, 16, 1 << 20, degrees) == "degree_k<1>");
  const std::vector<std::string> allreduces{"degree_k<1>", "degree_k<3>", "degree_k<7>",
                                            "degree_k<15, flat>"};
  CHECK(chosen(operation::allreduce, 16, 8, allreduces) == "degree_k<3>");
  CHECK(chosen(operation::allreduce, 16, 1 << 20, allreduces) == "degree_k<1>");
}

TEST_CASE("P4 sections 2.3 and 4.3: recursive doubling, Bruck and the ring, each where it belongs",
          "[model]") {
  constexpr std::size_t megabyte = std::size_t{1} << 20;
  for (const int ranks : {2, 4, 8, 16, 32, 64, 1024}) {
    INFO(ranks << " ranks");
    for (const std::size_t bytes : {std::size_t{4}, std::size_t{32768}, megabyte})
      CHECK(chosen(operation::allgather, ranks, bytes, of_p4) == "recursive_doubling");
    CHECK(chosen(operation::allgather, ranks, megabyte + 1, of_p4) ==
          (ranks > 32 ? "ring" : "recursive_doubling"));
  }
  // On three ranks the ring has as few steps as Bruck's algorithm.
  for (const int ranks : {5, 6, 7, 12, 13, 24, 33, 100, 1000}) {
    INFO(ranks << " ranks");
    CHECK(chosen(operation::allgather, ranks, 4, of_p4) == "bruck");
    CHECK(chosen(operation::allgather, ranks, 1024, of_p4) == "bruck");
    CHECK(chosen(operation::allgather, ranks, megabyte, of_p4) == "bruck");
    CHECK(chosen(operation::allgather, ranks, megabyte + 1, of_p4) == (ranks > 32 ? "ring" : "bruck"));
  }
  // With the direct allgather, which is not in P4 and is chosen for small groups.
  CHECK(chosen(operation::allgather, 100, 8, allgathers) == "bruck");
  CHECK(chosen(operation::allgather, 64, 8, allgathers) == "recursive_doubling");
  CHECK(chosen(operation::allgather, 33, 2 * megabyte, allgathers) == "ring");
  CHECK(chosen(operation::allgather, 64, 2 * megabyte, allgathers) == "ring");
}

TEST_CASE("limits between rules are exact to the byte, and the first of equals is chosen", "[model]") {
  for (const int ranks : {3, 16, 33, 100}) {
    const auto rules = rules_by_formula(operation::allgather, ranks, allgathers);
    REQUIRE(!rules.empty());
    CHECK(rules.back().up_to == std::numeric_limits<std::size_t>::max());
    const auto cost = [&](const rule& r, std::size_t bytes) {
      return *estimate(operation::allgather, allgathers[static_cast<std::size_t>(r.algorithm)], ranks, bytes);
    };
    for (std::size_t i = 0; i + 1 < rules.size(); ++i) {
      INFO(ranks << " ranks, limit " << rules[i].up_to);
      CHECK(cost(rules[i], rules[i].up_to) <= cost(rules[i + 1], rules[i].up_to) * (1 + 1e-8));
      CHECK(cost(rules[i + 1], rules[i].up_to + 1) < cost(rules[i], rules[i].up_to + 1));
      CHECK(rules[i + 1].why.find("by formula") != std::string::npos);
    }
  }
  const std::vector<std::string> equals{"binomial_store_and_forward", "binomial"};
  for (const int ranks : {2, 3, 33, 100, 1000}) {
    const auto rules = rules_by_formula(operation::broadcast, ranks, equals);
    REQUIRE(rules.size() == 1);
    CHECK(rules[0].algorithm == 0);
  }
}

TEST_CASE("formulas do not override measurements", "[model][tuning]") {
  const auto& table = *tuning_table::built_in();
  for (const auto& m : table.rows()) {
    const std::vector<std::string> names{m.algorithm, "no_such"};
    const auto rules = table.rules({m.what, m.transport, m.ranks, m.crowded}, names);
    if (rules[0].why.find("measured on " + std::to_string(m.ranks)) == std::string::npos)
      FAIL(m.algorithm << " on " << m.ranks << " ranks: " << rules[0].why);
  }
}
