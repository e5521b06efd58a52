// SPDX-License-Identifier: Apache-2.0
// Operators of users that throw: the exception leaves the call unchanged, the communicator is poisoned, and
// the other ranks are notified at once.
#include <atomic>
#include <stdexcept>

#include "harness.hpp"

using namespace misuse;

namespace {

struct refused : std::domain_error {
  using std::domain_error::domain_error;
};

/// Adds, and throws from its `patience`th call on, but only on the first rank that reaches it.
struct capricious {
  int rank;
  std::atomic<int>* thrower;  ///< -1: none yet
  int* seen;
  int patience;
  int operator()(int a, int b) const {
    int nobody = -1;
    if (++*seen >= patience && (thrower->compare_exchange_strong(nobody, rank) || nobody == rank))
      throw refused("not to my taste");
    return a + b;
  }
};

enum class operation { reduce, allreduce, scan, reduce_scatter, iallreduce };

template <class Comm>
void call(Comm& comm, operation what, std::size_t count, int root, const capricious& op) {
  std::vector<int> data(count, 1);
  std::vector<int> out(count);
  switch (what) {
    case operation::reduce:
      return comm.reduce(std::span<const int>{data}, std::span{out}, op, chorale::root{root});
    case operation::allreduce:
      return comm.allreduce(chorale::in_place, std::span{data}, op);
    case operation::scan:
      return comm.scan(chorale::in_place, std::span{data}, op);
    case operation::reduce_scatter:
      data.resize(count * static_cast<std::size_t>(comm.size()), 1);
      return comm.reduce_scatter(std::span<const int>{data}, std::span{out}, op);
    case operation::iallreduce:
      return comm.iallreduce(chorale::in_place, std::span{data}, op).wait();
  }
}

}  // namespace

TEMPLATE_TEST_CASE("an operator that throws", "[misuse]", MISUSE_TRANSPORTS) {
  for (const int size : group_sizes) {
    for (const operation what : {operation::reduce, operation::allreduce, operation::scan,
                                 operation::reduce_scatter, operation::iallreduce}) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{20'000}}) {
        const int root = size - 1;
        std::atomic<int> thrower{-1};
        const auto all = run<TestType>(size, [&](auto& comm) {
          int seen = 0;
          call(comm, what, count, root, {comm.rank(), &thrower, &seen, count == 1 ? 1 : 3});
        });
        INFO("operation " << static_cast<int>(what) << " of " << count << " elements: " << describe(all));
        REQUIRE(thrower >= 0);
        for (std::size_t r = 0; r < all.size(); ++r) {
          CAPTURE(r);
          const bool threw = static_cast<int>(r) == thrower;
          // Some of the others may complete before they receive the failure notice.
          const auto& told = all[r].failure ? all[r].failure : all[r].later;
          if (threw) CHECK(all[r].other == "not to my taste");
          REQUIRE(all[r].later);
          if (threw || all[r].failure) CHECK(all[r].later->code() == chorale::errc::poisoned);
          const std::string text = told ? told->what() : all[r].later->what();
          CHECK(text.find("not to my taste") != std::string::npos);
          if (!threw) CHECK(text.find("left a call") == std::string::npos);
        }
      }
    }
  }
}
