// SPDX-License-Identifier: Apache-2.0
// Collectives by multicast: compared with a serial computation, with losses, with ranks that sleep or leave.
#include <atomic>
#include <cstdlib>
#include <iostream>

#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>
#include <chorale/transport/ud_rdma.hpp>
#include <chorale/verbs/soft_counters.hpp>

#include "../../lib/transport/multicast/multicast_messages.hpp"
#include "../support/collectives/checks.hpp"
#include "all_calls.hpp"
#include "policies.hpp"
#include "ranks.hpp"

using namespace inprocess;
using namespace collectives;
using namespace std::chrono_literals;
using chorale::call_id;
using chorale::transport::hybrid;
using chorale::transport::multicast_statistics;
using chorale::transport::multicast_window;
using chorale::transport::rc;
using chorale::transport::ud;
using chorale::transport::ud_rdma;

namespace {

template <class Comm>
void all_operations(Comm& comm, std::uint64_t s) {
  const auto vary = [&s] {
    const std::uint64_t n = mixed(++s);
    return manner{
        .nonblocking = n % 3 == 0, .in_place = n % 2 == 0, .misalignment = n / 8 % 4 == 0 ? n / 64 % 24 : 0};
  };
  const std::size_t piece = comm.transport().multicast_bytes();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{100}, piece - 1, piece,
                                  piece + 1, 5 * piece + 3, (multicast_window + 9) * piece + 7}) {
    for (const int root : {0, comm.size() / 2, comm.size() - 1})
      check_broadcast<std::byte>(comm, bytes, root, s, vary());
    check_allreduce<triangle>(comm, bytes / sizeof(triangle) / 4, multiply{}, s, vary());
    check_barrier(comm, vary());
  }
  for (int root = 0; root < comm.size(); ++root) check_broadcast<std::uint16_t>(comm, 5, root, s);
  for (int i = 0; i < 10; ++i) check_barrier(comm, vary());
}

/// Counters summed over all ranks.
class totals {
 public:
  void add(const multicast_statistics& s) {
    sent += s.signals + s.messages;
    repairs += s.repairs;
    naks += s.naks_sent;
    acknowledgements += s.acknowledgements;
    questions += s.questions;
    refused += s.refused;
  }
  std::atomic<std::uint64_t> sent{0}, repairs{0}, naks{0}, acknowledgements{0}, questions{0}, refused{0};
};

/// Waits or sends like an algorithm, in call `now`.
template <class Awaitable>
void await_one(Awaitable&& make) {
  const auto body = [&]() -> chorale::task<> { co_await make(); };
  chorale::task<> t = body();
  t.resume();
  t.result();
}

/// Rank 0 multicasts so much that all others, which do not poll, lose its last signal, of call `last`.
constexpr std::uint64_t last = 4 * multicast_window + 9;
template <class Comm>
void lose_a_signal(Comm& comm, gate& meet) {
  comm.transport().join_multicast();
  meet.arrive_and_wait();
  if (comm.rank() == 0) {
    for (std::uint64_t n = 1; n <= last; ++n)
      await_one([&] { return comm.transport().multicast_signal(call_id{n, 1}); });
  }
  meet.arrive_and_wait();
}

}  // namespace

TEMPLATE_TEST_CASE("collectives by multicast compute what a serial program computes", "[multicasting]",
                   multicasting<rc>, multicasting_1<rc>, multicasting<ud>, multicasting<ud_rdma>,
                   multicasting<hybrid<2>>) {
  for (const int size : {1, 2, 3, 5, 8, 13, 17}) {
    if (too_large(size)) continue;
    totals sum;
    run_ranks<TestType>(size, settings(), [&](auto& comm) {
      all_operations(comm, seed() + static_cast<unsigned>(size));
      sum.add(comm.transport().multicast_statistics());
    });
    CHECK(sum.refused == 0);
    CHECK((sum.sent > 0) == (size > 1));
  }
}

TEST_CASE("a barrier without losses costs one multicast", "[multicasting]") {
  constexpr int rounds = 200;
  auto c = settings();
  c.multicast_patience = 10s;  // a rank that only lacks a core has lost nothing, and must not ask
  for (const int size : {2, 7, 13}) {
    totals sum;
    std::atomic<std::uint64_t> answered{0};
    barrier_witness witness{size};
    gate meet{size};
    run_ranks<multicasting<rc>>(size, c, [&](auto& comm) {
      for (int i = 0; i < rounds; ++i) witness.check(comm);
      meet.arrive_and_wait();  // a leaving rank asks, which would be counted
      const auto s = comm.transport().multicast_statistics();
      sum.add(s);
      answered += s.naks_received + s.answers + s.duplicates;
      meet.arrive_and_wait();
    });
    INFO(size << " ranks");
    CHECK(sum.sent == rounds);
    CHECK(sum.repairs + sum.naks + sum.acknowledgements + answered == 0);
    CHECK(sum.refused == 0);
  }
}

TEST_CASE("a rank that sleeps outside calls still retransmits", "[multicasting]") {
  constexpr int size = 5;
  gate meet{size};
  std::atomic<std::uint64_t> repairs{0};
  run_ranks<multicasting<rc>>(size, settings(), [&](auto& comm) {
    lose_a_signal(comm, meet);
    if (comm.rank() != 0)
      await_one([&] { return comm.transport().multicast_signalled(0, call_id{last, 1}); });
    meet.arrive_and_wait();  // rank 0 has slept until here
    repairs += comm.transport().multicast_statistics().repairs;
  });
  CHECK(repairs >= 1);
}

TEST_CASE("a rank leaves when all have received its multicasts", "[multicasting]") {
  constexpr int size = 5;
  gate meet{size};
  std::atomic<bool> left{false};
  std::atomic<std::uint64_t> naks{0};
  std::atomic<int> late{0};
  run_anywhere(size, [&](auto& group) {
    {
      multicasting<rc> comm{group, settings()};
      lose_a_signal(comm, meet);
      if (comm.rank() != 0) {
        // Meanwhile rank 0 is leaving, which lasts until the others, which sleep, have received the signal.
        const auto give_up = chorale::clock::now() + 20s;
        while (!left && chorale::clock::now() < give_up) chorale::clock::sleep_for(1ms);
        if (!left) ++late;
        naks += comm.transport().multicast_statistics().naks_sent;
        await_one([&] { return comm.transport().multicast_signalled(0, call_id{last, 1}); });
      }
    }
    if (group.rank() == 0) left = true;
  });
  CHECK(late == 0);
  CHECK(naks >= 1);
}

TEST_CASE("a rank that multicasts and leaves waits for one that has not joined, however long that computes",
          "[multicasting]") {
  auto c = settings();
  c.silence = 150ms;
  constexpr call_id call{1, 1};
  std::atomic<bool> left{false};
  bool was_alone = false;
  run_anywhere(2, [&](auto& group) {
    {
      multicasting<rc> comm{group, c};
      auto& net = comm.transport();
      if (comm.rank() == 0) {
        await_one([&] { return net.multicast_signal(call); });
      } else {
        const auto give_up = chorale::clock::now() + 1500ms;
        while (!left && chorale::clock::now() < give_up) chorale::clock::sleep_for(1ms);
        was_alone = left;
        if (!was_alone) await_one([&] { return net.multicast_signalled(0, call); });
      }
    }
    if (group.rank() == 0) left = true;
  });
  CHECK_FALSE(was_alone);
}

TEST_CASE("a communicator that failed leaves without asking", "[multicasting]") {
  constexpr int size = 2;
  gate meet{size};
  std::atomic<int> errors{0};
  std::atomic<bool> left{false};
  std::atomic<std::uint64_t> answers{0};
  run_anywhere(size, [&](auto& group) {
    {
      multicasting<rc> comm{group, settings()};
      lose_a_signal(comm, meet);
      try {
        if (comm.rank() == 1)
          static_cast<void>(comm.allreduce(word{1}, chorale::sum));
        else
          comm.barrier();
      } catch (const chorale::error&) {
        ++errors;
      }
      if (comm.rank() == 1) support::await("rank 0 has left", [&] { return left.load(); });
      answers += comm.transport().multicast_statistics().answers;
    }
    if (group.rank() == 0) left = true;
  });
  CHECK(errors == size);
  CHECK(answers == 0);
}

TEST_CASE("the multicast groups of several communicators do not mix", "[multicasting]") {
  std::atomic<std::uint64_t> refused{0};
  run_ranks<multicasting<rc>>(6, settings(), [&](auto& comm) {
    auto half = comm.split(comm.rank() % 2);
    auto again = comm.duplicate();
    std::vector<std::string> names;
    for (auto* one : {&comm, &*half, &again})
      names.push_back(chorale::verbs::to_string(one->transport().multicasts().group()));
    if (names[0] == names[1] || names[1] == names[2] || names[0] == names[2])
      throw wrong("two communicators have one group: " + names[0] + ", " + names[1] + ", " + names[2]);
    for (int i = 0; i < 30; ++i) {
      const auto s = seed() + static_cast<unsigned>(i);
      check_broadcast<std::byte>(*half, 300, i % half->size(),
                                 s + static_cast<unsigned>(comm.rank() % 2) * 1000);
      check_broadcast<std::byte>(comm, 500, i % comm.size(), s);
      check_barrier(again);
    }
    for (auto* one : {&comm, &*half, &again}) refused += one->transport().multicast_statistics().refused;
    comm.barrier();
  });
  CHECK(refused == 0);
}

// On the deferred engine, with loss, duplication and seed from the environment.
TEMPLATE_TEST_CASE("what is lost on the way is repeated", "[lossymulticast]", multicasting<rc>,
                   multicasting<ud>, multicasting<hybrid<2>>) {
  const char* loss = std::getenv("CHORALE_SOFT_LOSS");
  // With a loss of one in a hundred, all of a few hundred datagrams may arrive by chance.
  const bool lossy = loss != nullptr && std::atoi(loss) >= 10;
  for (const int size : {2, 5, 13}) {
    totals sum;
    barrier_witness witness{size};
    run_ranks<TestType>(size, settings(), [&](auto& comm) {
      for (int i = 0; i < (instrumented ? 20 : 60); ++i) {
        const auto s = mixed(seed() + static_cast<unsigned>(i));
        witness.check(comm);
        if (i % 6 == 0)
          check_broadcast<std::byte>(comm, s % 20'000,
                                     static_cast<int>(s / 32'768 % static_cast<unsigned>(size)), s);
        if (i % 10 == 0) check_allreduce<triangle>(comm, s % 300, multiply{}, s);
      }
      check_broadcast<std::byte>(comm, 300'000, size - 1, seed());
      sum.add(comm.transport().multicast_statistics());
    });
    std::cout << TestType::transport_type::name << ", " << size << " ranks: " << sum.sent << " multicasts, "
              << sum.repairs << " repairs, " << sum.naks << " NAKs, " << sum.acknowledgements
              << " acknowledgements, " << sum.questions << " questions\n";
    CHECK(sum.refused == 0);
    if (lossy && size > 2) CHECK(sum.repairs > 0);
  }
}

TEMPLATE_TEST_CASE("datagrams and multicasts leave at the service level that is set for them", "[multicast]",
                   multicasting<rc>, multicasting<ud>) {
  if (left_out_in_virtual_time("only soft0 counts service levels")) return;
  const auto levels = [](auto& comm) {
    return chorale::verbs::read_soft_counters(comm.transport().device().native());
  };
  auto c = settings();
  // No other test uses these levels; the records of this process persist.
  constexpr int level = std::is_same_v<TestType, multicasting<rc>> ? 14 : 13;
  c.service_level = 9;
  c.ud_service_level = level;
  const unsigned wanted = 1U << level;
  run_ranks<TestType>(3, c, [&](auto& comm) {
    comm.barrier();
    check_broadcast<std::byte>(comm, 100, 1, seed());
    check_barrier(comm);
    // The questions of a waiting rank are datagrams on every transport.
    if (comm.rank() == 0) chorale::clock::sleep_for(50ms);
    comm.barrier();
    const auto seen = levels(comm);
    if ((seen.datagram_levels & wanted) == 0) throw std::runtime_error("no datagram has left at the level");
    if ((seen.multicast_levels & wanted) == 0) throw std::runtime_error("no multicast has left at the level");
    if (((seen.datagram_levels | seen.multicast_levels) >> 9 & 1U) != 0)
      throw std::runtime_error("a datagram has left at the level of connections");
  });
}
