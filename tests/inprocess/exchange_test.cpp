// SPDX-License-Identifier: Apache-2.0
// Exchanges with neighbours, against a plan that every rank knows.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/algorithm/exchange/straight.hpp>
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

/// Calls in which each rank sends the next one a short message, one of at least `count` elements, and
/// sometimes one that is too long for blocks. Throws if the message of `count` elements does not go as is
/// expected: if the senders decide, by blocks until they have used all blocks, then twice straight, then
/// twice by blocks, and then as their work tells; otherwise by blocks if `usually_by_blocks`.
void check_ways(auto& comm, std::size_t count, bool decides, bool usually_by_blocks) {
  const auto& net = comm.transport();
  const int right = (comm.rank() + 1) % comm.size();
  std::size_t unused = net.settings().mailbox_blocks(true, net.size());
  std::string ways = "ssbb";
  const auto check = [&](const std::vector<message>& plan) {
    part mine{plan, comm.rank()};
    const std::uint64_t before = net.sent_to(right);
    comm.exchange(mine.sends, mine.takes);
    mine.check();
    const bool by_blocks = net.sent_to(right) - before > 1;
    const auto own = std::find_if(plan.begin(), plan.end(), [&](const message& m) {
      return m.from == comm.rank() && m.count >= count;
    });
    if (own == plan.end() || (decides && ways.empty())) return;
    bool expected = usually_by_blocks;
    if (decides && unused > 0) {
      expected = true;
      unused -= std::min(unused, 1 + (own->count * sizeof(int) + net.block_bytes() - 1) / net.block_bytes());
    } else if (decides) {
      expected = ways.front() == 'b';
      ways.erase(0, 1);
    }
    if (own->to == right && by_blocks != expected)
      throw wrong(by_blocks ? "by blocks, not straight" : "straight, not by blocks");
  };
  // Ranks 0 and 1 are one call ahead of others, so that in some calls the messages that a rank sends go one
  // way and those that it takes another.
  check({{0, 1, count}, {1, 0, count}});
  for (std::size_t call = 0; call < 40; ++call) {
    const std::size_t longest = call % 20 == 0 ? 70'000 : 0;
    std::vector<message> plan;
    for (int from = 0; from < comm.size(); ++from)
      for (const std::size_t elements : {std::size_t{10}, count + call % 7, longest})
        plan.push_back({from, (from + 1) % comm.size(), elements});
    check(plan);
  }
  if (decides && !ways.empty()) throw wrong("the senders have not tried both ways");
}

TEST_CASE("each sender tries both ways of messages about as long as the threshold", "[exchange]") {
  using comm_type = chorale::communicator<transport::rc>;
  for (const int ranks : {2, 3}) {
    const auto check = [ranks](const chorale::config& c) {
      run_ranks<comm_type>(ranks, c, [](auto& comm) {
        const auto sizes = chorale::exchange::straight_sizes::of(comm.transport());
        check_ways(comm, sizes.usual / sizeof(int) + 1, sizes.least < sizes.sure, false);
      });
      run_ranks<comm_type>(ranks, c, [](auto& comm) {
        const auto sizes = chorale::exchange::straight_sizes::of(comm.transport());
        const std::size_t bytes = sizes.usual - 32;
        check_ways(comm, bytes / sizeof(int), bytes >= sizes.least, true);
      });
    };
    auto c = inprocess::settings();
    c.blocks = 16;
    check(c);
    c.trials = chorale::trial_policy::off;
    check(c);
    c.trials = chorale::trial_policy::automatic;
    c.zero_copy_bytes = 65536;
    check(c);
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
