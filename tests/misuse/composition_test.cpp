// SPDX-License-Identifier: Apache-2.0
// Ranks with different algorithms: an error at joining, instead of an endless wait.
#include <string>
#include <vector>

#include <chorale/algorithm/barrier/pairwise_exchange.hpp>
#include <chorale/algorithm/scan/chain.hpp>
#include <chorale/bootstrap/in_process.hpp>

#include "harness.hpp"

using misuse::group_sizes;

namespace {

/// The error of each rank at making its communicator: rank `odd` makes an `Other`, the others a `Usual`.
template <class Usual, class Other>
std::vector<std::string> meet(int size, int odd) {
  std::vector<std::string> said(static_cast<std::size_t>(size));
  chorale::bootstrap::run_in_process(size, [&](auto& group) {
    auto& mine = said[static_cast<std::size_t>(group.rank())];
    try {
      if (group.rank() == odd)
        Other made{group, misuse::settings()};
      else
        Usual made{group, misuse::settings()};
    } catch (const chorale::error& e) {
      mine = e.code() == chorale::errc::mismatch ? e.what() : std::string{"another error: "} + e.what();
    }
  });
  return said;
}

}  // namespace

TEMPLATE_TEST_CASE("ranks that composed different algorithms", "[misuse]", MISUSE_TRANSPORTS) {
  using usual = chorale::communicator<TestType>;
  using other = chorale::communicator<TestType, chorale::scan::chain, chorale::barrier::pairwise_exchange>;
  for (const int size : group_sizes) {
    const auto said = meet<usual, other>(size, size - 1);
    for (int r = 0; r < size; ++r) {
      const std::string& text = said[static_cast<std::size_t>(r)];
      INFO("rank " << r << " of " << size << ": " << text);
      CHECK(text.find("'standard'") != std::string::npos);
      CHECK(text.find("'barrier pairwise_exchange, scan chain; else standard'") != std::string::npos);
      CHECK(text.find("rank " + std::to_string(size - 1)) != std::string::npos);
    }
  }
}

TEST_CASE("ranks with the same policies in a different order", "[misuse]") {
  using one = chorale::communicator<chorale::transport::rc, chorale::scan::chain,
                                    chorale::barrier::pairwise_exchange>;
  using same = chorale::communicator<chorale::barrier::pairwise_exchange, chorale::scan::chain>;
  for (const std::string& text : meet<one, same>(3, 1)) CHECK(text == "");
}
