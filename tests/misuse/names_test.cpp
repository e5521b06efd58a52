// SPDX-License-Identifier: Apache-2.0
// A communicator with a name: every error contains the name.
#include <utility>
#include <vector>

#include "harness.hpp"

using chorale::errc;

TEMPLATE_TEST_CASE("errors show the name of the communicator", "[misuse]", MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    for (const bool nonblocking : {false, true}) {
      const auto all = misuse::run<TestType>(size, [nonblocking](auto& comm) {
        comm.set_name("solver");
        if (comm.name() != "solver") throw std::runtime_error("the name is lost");
        auto moved = std::move(comm);
        comm = std::move(moved);
        std::vector<int> data(comm.rank() == 1 ? 3U : 4U);
        if (nonblocking)
          comm.iallreduce(chorale::in_place, data, chorale::sum).wait();
        else
          comm.allreduce(chorale::in_place, data, chorale::sum);
      });
      INFO(misuse::describe(all));
      for (const auto& one : all) {
        CHECK(one.is(errc::mismatch));
        CHECK(one.says({"communicator 'solver'"}));
        REQUIRE(one.later);
        CHECK(std::string{one.later->what()}.find("communicator 'solver'") != std::string::npos);
      }
    }
  }
}

TEST_CASE("an argument that is refused names the communicator, and so does one without a name", "[misuse]") {
  const auto all = misuse::run<chorale::transport::rc>(2, [](auto& comm) {
    if (comm.rank() == 0) comm.set_name("halo");
    std::vector<int> in(3), out(4);
    comm.allreduce(in, out, chorale::sum);
  });
  INFO(misuse::describe(all));
  CHECK(all[0].says({"communicator 'halo': allreduce on rank 0"}));
  CHECK(all[1].says({"allreduce on rank 1"}));
  CHECK(!all[1].says({"communicator '"}));
  for (const auto& one : all) {
    CHECK(one.is(errc::invalid_argument));
    CHECK(!one.later);
  }
}
