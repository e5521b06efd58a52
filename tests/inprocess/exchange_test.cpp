// SPDX-License-Identifier: Apache-2.0
// Exchanges with neighbours, against a plan that every rank knows.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/communicator.hpp>
#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/rc_send_receive.hpp>
#include <chorale/transport/ud.hpp>
#include <chorale/transport/ud_rdma.hpp>

#include "../support/collectives/guarded_buffer.hpp"
#include "random_messages.hpp"
#include "ranks.hpp"

namespace {

namespace transport = chorale::transport;
using collectives::guarded_buffer;
using collectives::wrong;
using inprocess::message;
using inprocess::random_messages;
using inprocess::run_ranks;
using inprocess::seed;

#define EXCHANGE_COMMUNICATORS                                                \
  chorale::communicator<transport::rc>, chorale::communicator<transport::ud>, \
      chorale::communicator<transport::ud_rdma>, chorale::communicator<transport::hybrid<2>>

int in_message(std::size_t index, std::size_t i) {
  return static_cast<int>(index * 1'000'003 + i);
}

/// A rank's part of a plan: the buffers, in the order of the plan.
struct part {
  std::vector<guarded_buffer<int>> out;
  std::vector<guarded_buffer<int>> in;
  std::vector<chorale::outgoing> sends;
  std::vector<chorale::incoming> takes;

  part(const std::vector<message>& plan, int rank) : plan_(plan), rank_(rank) {
    for (std::size_t m = 0; m < plan.size(); ++m) {
      if (plan[m].from == rank) {
        out.emplace_back(plan[m].count, 4 * (m % 3)).fill_with([m](std::size_t i) {
          return in_message(m, i);
        });
      }
      if (plan[m].to == rank) in.emplace_back(plan[m].count, 4 * (m % 5));
    }
    auto next_out = out.begin();
    auto next_in = in.begin();
    for (const message& m : plan) {
      if (m.from == rank) sends.push_back(chorale::to(m.to, (next_out++)->span()));
      if (m.to == rank) takes.push_back(chorale::from(m.from, (next_in++)->span()));
    }
  }
  void check() const {
    auto next = in.begin();
    for (std::size_t m = 0; m < plan_.size(); ++m) {
      if (plan_[m].to != rank_) continue;
      (next++)->check("message " + std::to_string(m) + " of the plan",
                      [m](std::size_t i) { return in_message(m, i); });
    }
  }

 private:
  std::vector<message> plan_;
  int rank_;
};

}  // namespace

TEMPLATE_TEST_CASE("exchange brings each message to its place", "[exchange]", EXCHANGE_COMMUNICATORS,
                   chorale::communicator<transport::rc_send_receive>) {
  inprocess::run_exchanges<TestType>([](auto& comm) {
    std::mt19937 random(static_cast<unsigned>(seed()));
    for (int call = 0; call < 8; ++call) {
      part mine{random_messages(comm.size(), random), comm.rank()};
      if (call % 2 == 0)
        comm.exchange(mine.sends, mine.takes);
      else
        comm.iexchange(mine.sends, mine.takes).wait();
      mine.check();
    }
    // Two at once, awaited in reverse order, followed by another call.
    part first{random_messages(comm.size(), random), comm.rank()};
    part second{random_messages(comm.size(), random), comm.rank()};
    auto a = comm.iexchange(first.sends, first.takes);
    auto b = comm.iexchange(second.sends, second.takes);
    b.wait();
    a.wait();
    first.check();
    second.check();
    if (comm.allreduce(1, chorale::sum) != comm.size()) throw wrong("allreduce behind exchanges");
  });
}

TEMPLATE_TEST_CASE("a rank may have more messages than its neighbours, each of which has one each way",
                   "[exchange]", EXCHANGE_COMMUNICATORS) {
  // Rank 0 also has a message for itself, so that it moves all its messages by streams, and the others move
  // theirs in one piece.
  run_ranks<TestType>(4, inprocess::settings(), [](auto& comm) {
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{2049}, std::size_t{2050},
          std::size_t{2051}, std::size_t{2060}, std::size_t{2061}}) {
      std::vector<message> plan{{0, 0, count}};
      for (int other = 1; other < comm.size(); ++other) {
        plan.push_back({0, other, count});
        plan.push_back({other, 0, count + static_cast<std::size_t>(other)});
      }
      part mine{plan, comm.rank()};
      comm.exchange(mine.sends, mine.takes);
      mine.check();
    }
  });
}

TEMPLATE_TEST_CASE("exchange shifts around a ring and along a line", "[exchange]", EXCHANGE_COMMUNICATORS) {
  for (const int size : {1, 2, 3, 5, 7}) {
    if (inprocess::too_large(size)) continue;
    run_ranks<TestType>(size, inprocess::settings(), [](auto& comm) {
      const int n = comm.size();
      const int me = comm.rank();
      for (const std::size_t count :
           {std::size_t{0}, std::size_t{1}, std::size_t{5000}, std::size_t{50'000}}) {
        const std::vector<int> out(count, me);
        std::vector<int> in(count, -1);
        comm.exchange({chorale::to((me + 1) % n, out)}, {chorale::from((me + n - 1) % n, in)});
        if (in != std::vector<int>(count, (me + n - 1) % n)) throw wrong("around the ring");
        std::fill(in.begin(), in.end(), -1);
        const int right = me + 1 < n ? me + 1 : chorale::nobody;
        const int left = me > 0 ? me - 1 : chorale::nobody;
        comm.iexchange({chorale::to(right, out)}, {chorale::from(left, in)}).wait();
        if (in != std::vector<int>(count, left)) throw wrong("along the line");
      }
    });
  }
}

TEST_CASE("exchange rejects overlapping buffers and nonexistent ranks, on this rank only", "[exchange]") {
  using chorale::errc;
  run_ranks<chorale::communicator<transport::rc>>(2, inprocess::settings(), [](auto& comm) {
    std::vector<int> data(10);
    const std::span<int> all{data};
    const auto refused = [&](std::initializer_list<chorale::outgoing> sends,
                             std::initializer_list<chorale::incoming> takes) {
      support::refused(errc::invalid_argument, {}, [&] { comm.exchange(sends, takes); });
    };
    refused({chorale::to(0, all.first(6))}, {chorale::from(0, all.subspan(5))});
    refused({}, {chorale::from(0, all.first(6)), chorale::from(1, all.subspan(5))});
    refused({chorale::to(0, all), chorale::to(1, all.first(1))}, {chorale::from(0, all.subspan(9))});
    refused({chorale::to(2, all)}, {});
    refused({}, {chorale::from(-2, all)});
    // Buffers that are only read may overlap, and buffers for `nobody` do not count.
    comm.exchange({chorale::to(comm.rank(), all.first(2)), chorale::to(chorale::nobody, all)},
                  {chorale::from(comm.rank(), all.subspan(2, 2)), chorale::from(chorale::nobody, all)});
  });
}
