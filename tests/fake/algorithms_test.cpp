// SPDX-License-Identifier: Apache-2.0
// Every algorithm over a transport that models all concepts.
#include "candidates.hpp"
#include "transport.hpp"

TEST_CASE("every algorithm computes its operation, in every schedule", "[algorithms]") {
  fake::check_all<fake::transport>();
}

TEST_CASE("every rank may be the root", "[algorithms]") {
  fake::check_roots<fake::transport>();
}

TEST_CASE("messages longer than a segment travel in several", "[algorithms]") {
  using chorale::operation;
  for (const auto& one : fake::candidates<fake::transport>()) {
    if (one.what != operation::broadcast && one.what != operation::allgather) continue;
    for (const int ranks : {2, 3, 5}) {
      auto c = fake::conditions_of(ranks, fake::mixed(support::seed() + static_cast<std::uint64_t>(ranks)));
      c.block_bytes = 4096;
      c.zero_copy_bytes = 1000;
      fake::run_calls(one, c, {300'001, 1'100'000}, ranks == 3 ? 2 : 1);
    }
  }
}

TEST_CASE("operands longer than a piece are put, or read, in several", "[algorithms]") {
  using chorale::operation;
  for (const auto& one : fake::candidates<fake::transport>()) {
    if (!one.is_reduction) continue;
    const auto is = [&](const char* name) { return one.name.find(name) != std::string::npos; };
    const bool reads =
        is("direct") || is("rabenseifner") || is("scatter_gather") || is("by_shares") || is("reproducible");
    if (!reads && !is("degree_k")) continue;
    for (const int ranks : {2, 3, 5, 13}) {
      if (reads && ranks == 13) continue;
      auto c = fake::conditions_of(ranks, fake::mixed(support::seed() + static_cast<std::uint64_t>(ranks)));
      c.block_bytes = 4096;
      c.zero_copy_bytes = 1000;
      if (reads) {
        c.copies_by_core = true;
        c.oversubscribed = false;
      }
      // Elements of up to twelve bytes: several pieces, whose sizes are not powers of two.
      fake::run_calls(one, c, {60'001, 17'003}, ranks == 3 ? 4 : 2);
    }
  }
}

TEST_CASE("in an exchange each sender tries both ways", "[algorithms]") {
  for (const auto& one : fake::candidates<fake::transport>()) {
    if (one.what != chorale::operation::exchange) continue;
    for (const int ranks : {2, 3, 5, 7, 13}) {
      for (std::uint64_t i = 0; i < 20; ++i) {
        auto c = fake::conditions_of(ranks, fake::mixed(support::seed() + i));
        c.copies_by_core = true;
        c.zero_copy_bytes = 100;
        c.blocks = 2;
        fake::run_calls(one, c, {127, 700, 255}, 30);
      }
    }
  }
}
