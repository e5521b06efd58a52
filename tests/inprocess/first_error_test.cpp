// SPDX-License-Identifier: Apache-2.0
// The first error that a program sees if a nonblocking call has failed before any wait for it.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>
#include <chorale/transport/ud_rdma.hpp>
#include <chorale/window.hpp>

#include "../support/collectives/checks.hpp"
#include "policies.hpp"
#include "ranks.hpp"

using namespace inprocess;
using namespace collectives;
using chorale::errc;
using chorale::error;
using chorale::transport::rc;
using chorale::transport::ud;
using chorale::transport::ud_rdma;

namespace {

constexpr int odd_rank = 1;

/// The exception that `call` throws.
template <class Call>
error thrown_by(Call call) {
  try {
    call();
  } catch (const error& e) {
    return e;
  }
  throw wrong("a call of a failed communicator returned");
}

/// Number of elements of this rank in a call that fails.
template <class Comm>
std::size_t elements(const Comm& comm) {
  return comm.rank() == odd_rank ? 11 : 10;
}

template <class Comm>
void await_failure(Comm& comm) {
  support::await("the call has failed", [&] {
    chorale::progress();
    return comm.transport().is_poisoned();
  });
}

/// A communicator on which an allreduce has failed, since `odd_rank` had a different number of elements.
template <class Comm>
struct failed_ranks {
  Comm comm;
  std::vector<int> data;
  chorale::request call;

  template <class Group>
  explicit failed_ranks(Group& group) : comm(group, settings()), data(elements(comm)) {
    call = comm.iallreduce(chorale::in_place, std::span{data}, chorale::sum);
    await_failure(comm);
  }
  error next() {
    return thrown_by([this] { static_cast<void>(comm.ibarrier()); });
  }
};

void expect_named(const error& e, errc code) {
  expect(e.code() == code, std::string{"another code: "} + e.what());
  expect(std::find(e.ranks().begin(), e.ranks().end(), odd_rank) != e.ranks().end(),
         std::string{"the odd rank is not named: "} + e.what());
}

}  // namespace

TEMPLATE_TEST_CASE("the first error has the code of the failure, though another call throws it",
                   "[nonblocking]", standard<rc>, standard<ud>) {
  run_anywhere(3, [](auto& group) {
    failed_ranks<TestType> on{group};
    expect_named(on.next(), errc::mismatch);
    expect_named(on.next(), errc::poisoned);
    expect_named(thrown_by([&] { on.comm.barrier(); }), errc::poisoned);
    // The request of the call still throws the failure.
    expect_named(thrown_by([&] { on.call.wait(); }), errc::mismatch);
  });
}

TEMPLATE_TEST_CASE("a failure that a request has thrown is not thrown again by the next call",
                   "[nonblocking]", standard<rc>, standard<ud>) {
  run_anywhere(3, [](auto& group) {
    failed_ranks<TestType> on{group};
    expect_named(thrown_by([&] { on.call.wait(); }), errc::mismatch);
    expect_named(on.next(), errc::poisoned);
  });
}

TEMPLATE_TEST_CASE("a blocking call throws a failure that nobody has seen as well", "[nonblocking]",
                   standard<rc>, standard<ud>) {
  run_anywhere(3, [](auto& group) {
    failed_ranks<TestType> on{group};
    expect_named(thrown_by([&] { on.comm.barrier(); }), errc::mismatch);
    expect_named(thrown_by([&] { on.comm.barrier(); }), errc::poisoned);
  });
}

TEMPLATE_TEST_CASE("a window that ends leaves the failure of another call to the next call", "[nonblocking]",
                   standard<rc>, standard<ud_rdma>) {
  for (const bool noticed_before : {true, false}) {
    run_anywhere(3, [&](auto& group) {
      TestType comm{group, settings()};
      std::vector<int> data(elements(comm));
      chorale::request call;
      {
        const chorale::window<int, TestType> ends{comm, std::size_t{4}};
        call = comm.iallreduce(chorale::in_place, std::span{data}, chorale::sum);
        if (noticed_before) await_failure(comm);
      }
      expect_named(thrown_by([&] { comm.barrier(); }), errc::mismatch);
      expect_named(thrown_by([&] { comm.barrier(); }), errc::poisoned);
    });
  }
}

TEMPLATE_TEST_CASE("a wait for a notification throws the failure of a call that it drives", "[nonblocking]",
                   standard<rc>, standard<ud_rdma>) {
  run_anywhere(3, [](auto& group) {
    TestType comm{group, settings()};
    std::vector<int> data(elements(comm));
    chorale::window<int, TestType> w{comm, std::size_t{4}};
    const auto call = comm.iallreduce(chorale::in_place, std::span{data}, chorale::sum);
    expect_named(thrown_by([&] { w.wait_notified(chorale::any_rank, 0); }), errc::mismatch);
    expect_named(thrown_by([&] { comm.barrier(); }), errc::poisoned);
  });
}
