// SPDX-License-Identifier: Apache-2.0
// Communicators made while other calls are in progress: isplit, iduplicate and isubgroup.
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/ud.hpp>
#include <chorale/transport/ud_rdma.hpp>

#include "parts.hpp"
#include "ranks.hpp"

using namespace inprocess;
using chorale::errc;
using chorale::error;
namespace transport = chorale::transport;

#define ISPLIT_TRANSPORTS transport::rc, transport::ud, transport::ud_rdma, transport::hybrid<2>

namespace {

/// Checks that `part` has these ranks of the parent, and that it works.
template <class Comm>
void check_part(std::optional<Comm> part, const std::vector<int>& members, int me) {
  expect(part.has_value() == !members.empty(), "a part is there that should not be, or the other way round");
  if (!part) return;
  expect(part->size() == static_cast<int>(members.size()), "a part of another size");
  expect(part->allgather(me) == members, "a part of other ranks, or in another order");
  expect(part->allreduce(me, chorale::sum) == std::accumulate(members.begin(), members.end(), 0),
         "a part that cannot add");
}

template <class Action>
std::error_code code_of(const Action& action) {
  const auto e = support::error_of(action);
  return e ? e->code() : std::error_code{};
}

}  // namespace

TEMPLATE_TEST_CASE("isplit makes what split makes, beside other calls", "[isplit]", ISPLIT_TRANSPORTS) {
  for (const int size : {1, 2, 3, 5, 7}) {
    run_ranks<chorale::communicator<TestType>>(size, settings(), [&](auto& comm) {
      const int me = comm.rank();
      std::mt19937_64 plan{seed()};
      for (int trial = 0; trial < 2; ++trial) {
        const coloured drawn{size, plan};
        const auto here = static_cast<std::size_t>(me);
        std::vector<long> before(40'000, me);
        std::vector<long> after(3, me);
        auto first = comm.iallreduce(chorale::in_place, before, chorale::sum);
        auto part = comm.isplit(drawn.colors[here], chorale::key{drawn.keys[here]});
        auto twin = comm.iduplicate();
        auto last = comm.iallreduce(chorale::in_place, after, chorale::sum);
        // In a different order on odd ranks.
        std::optional<chorale::communicator<TestType>> whole;
        if (me % 2 == 0) {
          first.wait();
          whole = twin.take();
          last.wait();
        } else {
          last.wait();
          while (!twin.test()) {
          }
          whole = twin.take();
          first.wait();
        }
        auto own = part.take();
        expect(!part.valid() && !part.take(), "a communicator is given twice");
        const long sum = static_cast<long>(size) * (size - 1) / 2;
        expect(before == std::vector<long>(before.size(), sum) && after == std::vector<long>(3, sum),
               "a call beside it is wrong");
        check_part(std::move(own), drawn.members(me), me);
        std::vector<int> all(static_cast<std::size_t>(size));
        std::iota(all.begin(), all.end(), 0);
        check_part(std::move(whole), all, me);
        comm.barrier();
      }
    });
  }
}

TEMPLATE_TEST_CASE("many parts are begun at once and waited for together", "[isplit]", transport::rc,
                   transport::ud_rdma) {
  for (const int size : {2, 5}) {
    run_ranks<chorale::communicator<TestType>>(size, settings(), [&](auto& comm) {
      using comm_type = std::remove_reference_t<decltype(comm)>;
      const int me = comm.rank();
      std::vector<chorale::request_for<comm_type>> begun;
      for (int i = 0; i < 4; ++i) begun.push_back(comm.isplit(i % 2 == 0 ? me % 2 : 0, chorale::key{-me}));
      begun.emplace_back();  // without a call
      if (me % 2 == 0) {
        for (std::size_t left = 4; left > 0; --left)
          expect(chorale::wait_any(begun) < 4, "wait_any names a request without a call");
        expect(chorale::wait_any(begun) == begun.size(), "wait_any finds one more");
      } else {
        while (!chorale::test_all(begun)) {
        }
      }
      chorale::wait_all(begun);
      std::vector<int> all;
      std::vector<int> alike;
      for (int r = size - 1; r >= 0; --r) {
        all.push_back(r);
        if (r % 2 == me % 2) alike.push_back(r);
      }
      for (std::size_t i = 0; i < 4; ++i) check_part(begun[i].take(), i % 2 == 0 ? alike : all, me);
      expect(!begun[4].take(), "a request without a call gives something");
    });
  }
}

TEMPLATE_TEST_CASE("what cannot be a part is refused, and harms nothing", "[isplit]", ISPLIT_TRANSPORTS) {
  run_ranks<chorale::communicator<TestType>>(3, settings(), [](auto& comm) {
    using list = std::vector<int>;
    expect(code_of([&] { static_cast<void>(comm.isplit(-7)); }) == errc::invalid_argument, "a colour of -7");
    expect(code_of([&] {
             static_cast<void>(comm.isubgroup(list{0, 3}));
           }) == errc::invalid_argument,
           "a rank that is not there");
    // All ranks detect differing lists, at the end of the request.
    auto wrong = comm.isubgroup(comm.rank() == 0 ? list{0, 1} : list{0, 1, 2});
    auto nobody = comm.isubgroup(list{});
    auto good = comm.isubgroup(list{2, 0});
    const auto told = code_of([&] { wrong.wait(); });
    expect(told == errc::mismatch, "lists that differ: " + told.message());
    expect(!wrong.take() && !nobody.take(), "a part of nobody");
    check_part(good.take(), comm.rank() == 1 ? list{} : list{2, 0}, comm.rank());
    comm.barrier();
  });
}

TEMPLATE_TEST_CASE("requests of parts that die early, and communicators that are moved or end first",
                   "[isplit]", ISPLIT_TRANSPORTS) {
  for (const int size : {1, 2, 3}) {
    run_ranks<chorale::communicator<TestType>>(size, settings(), [](auto& comm) {
      using comm_type = std::remove_reference_t<decltype(comm)>;
      {
        // It completes, and the communicator that it makes ends with it.
        const auto dropped = comm.isplit(0);
      }
      comm.barrier();
      auto parent = comm.duplicate();
      auto begun = parent.iduplicate();
      comm_type moved = std::move(parent);
      check_part(begun.take(), moved.allgather(comm.rank()), comm.rank());
      auto late = moved.isplit(comm.rank() % 2);
      { const comm_type ends = std::move(moved); }
      // Either completed, or withdrawn with its communicator.
      const auto code = code_of([&] {
        if (auto part = late.take()) part->barrier();
      });
      expect(!code || code == errc::poisoned || code == errc::peer_lost, code.message());
      comm.barrier();
    });
  }
}

TEST_CASE("an exception between a split and its end leaves no rank waiting", "[isplit]") {
  for (const bool at_once : {true, false}) {
    run_ranks<chorale::communicator<transport::rc>>(4, settings(), [&](auto& comm) {
      auto parent = comm.duplicate();
      std::string told;
      try {
        auto begun = parent.isplit(0);
        if (comm.rank() == 1) {
          // The others need rank 1 for longer than a destructor waits while an exception unwinds.
          if (!at_once) chorale::progress();
          throw std::domain_error("the cause");
        }
        auto part = begun.take();
        part->barrier();
      } catch (const std::domain_error&) {
        told = "rank 1";
      } catch (const error& e) {
        told = e.what();
      }
      expect(told.find("rank 1") != std::string::npos, "rank 1 is not named: " + told);
      comm.barrier();
    });
  }
}
