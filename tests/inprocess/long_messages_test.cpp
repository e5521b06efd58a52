// SPDX-License-Identifier: Apache-2.0
// Long messages over send and receive: a rendezvous for each, one sender at a time, or copies.
#include <algorithm>
#include <array>
#include <optional>

#include <chorale/transport/rc_send_receive.hpp>

#include "../misuse/harness.hpp"
#include "../support/in_call.hpp"
#include "all_calls.hpp"
#include "policies.hpp"
#include "ranks.hpp"

using namespace inprocess;
using chorale::errc;
using chorale::long_send_policy;
using chorale::transport::rc_send_receive;
using support::in_call;
using baseline = chorale::communicator<rc_send_receive>;
using span = std::span<const std::byte>;

namespace {

constexpr std::size_t eager = 1000;

chorale::config short_eager(long_send_policy how, std::size_t block = 256) {
  auto c = settings();
  c.send_receive_eager_bytes = eager;
  c.send_receive_block_bytes = block;
  c.send_receive_long = how;
  c.blocks = 4;
  return c;
}

std::byte value(int from, int to, std::size_t length, std::size_t i) {
  return static_cast<std::byte>(element(seed() + length, from, to, i));
}
/// Samples of a long message suffice; the last byte is among them.
std::size_t next(std::size_t i, std::size_t length) {
  return length < 10'000 ? i + 1 : i + 997 < length || i + 1 == length ? i + 997 : length - 1;
}

/// Each rank sends a message of each length to all others, from and to any alignment, and receives theirs,
/// all posted at once.
chorale::task<> everybody_to_everybody(rc_send_receive& net, chorale::call_id now,
                                       const std::vector<std::size_t>& lengths) {
  const int ranks = net.size();
  std::vector<std::vector<std::byte>> out, in;
  std::vector<chorale::transfer::outbound_message> sends;
  std::vector<chorale::transfer::inbound_message> receives;
  for (const std::size_t length : lengths) {
    const std::size_t shift = length % 7;
    for (int d = 1; d < ranks; ++d) {
      const int to = (net.rank() + d) % ranks;
      const int from = (net.rank() + ranks - d) % ranks;
      auto& source = out.emplace_back(length + shift + 1);
      for (std::size_t i = 0; i < length; i = next(i, length))
        source[i + shift] = value(net.rank(), to, length, i);
      sends.push_back({to, span{source}.subspan(shift, length)});
      auto& place = in.emplace_back(length + shift + 1, std::byte{0xee});
      receives.push_back({from, std::span{place}.subspan(shift, length)});
    }
  }
  co_await chorale::transfer::exchange_all(net, now, sends, receives);
  for (const auto& one : receives) {
    for (std::size_t i = 0; i < one.bytes.size(); i = next(i, one.bytes.size()))
      if (one.bytes[i] != value(one.from, net.rank(), one.bytes.size(), i))
        throw std::runtime_error("byte " + std::to_string(i) + " of " + std::to_string(one.bytes.size()) +
                                 " from rank " + std::to_string(one.from));
  }
  for (const auto& place : in)
    if (place.back() != std::byte{0xee}) throw std::runtime_error("a byte behind a place was written");
}

/// Calls with long and short data, over a transport that performs every call by messages.
template <class Comm>
void all_calls(long_send_policy how,
               chorale::eager_policy short_ones = chorale::eager_policy::receive_queue) {
  for (const int size : {1, 2, 3, 5, 8}) {
    if (support::instrumented && size == 8) continue;
    barrier_witness witness{size};
    auto c = short_eager(how);
    c.send_receive_eager = short_ones;
    if (size == 3) c.blocks = 2;
    if (size == 5) c.send_receive_eager_bytes = 64;
    run_ranks<Comm>(size, c, [&](auto& comm) {
      check_calls(comm, witness, {0, 1, 249, 250, 251, 3000}, seed());
    });
  }
}

}  // namespace

TEST_CASE("messages of any length arrive complete by every method", "[baseline][long]") {
  const std::vector<std::size_t> all{0, 1, eager - 1, eager, eager + 1, 240, 241, 8192, 8193, (1 << 20) + 3};
  for (const auto how : {long_send_policy::rendezvous, long_send_policy::serial, long_send_policy::copy}) {
    for (const int size : {2, 3, 5, 8}) {
      for (const std::uint32_t connections : {0U, 2U}) {
        if ((support::instrumented && size == 8) || (connections != 0 && size != 5)) continue;
        auto c = short_eager(how, size == 3 ? 8208 : 256);
        c.connections = connections;
        c.registration =
            size == 5 ? chorale::registration_policy::per_operation : chorale::registration_policy::automatic;
        INFO("way " << static_cast<int>(how) << ", limit " << connections);
        // Each message may need another connection.
        const std::vector<std::size_t> few{1, eager, eager + 1, 8193};
        const auto& lengths = connections == 0 ? all : few;
        // Requests travel like short messages.
        if (size == 3) c.send_receive_eager = chorale::eager_policy::rdma_write;
        run_ranks<baseline>(size, c, [&](baseline& comm) {
          for (int round = 0; round < 2; ++round)
            in_call(comm, [&](auto& net, auto now) { return everybody_to_everybody(net, now, lengths); });
          comm.barrier();
        });
      }
    }
  }
}

TEST_CASE("several MiB in each direction", "[baseline][long]") {
  const std::vector<std::size_t> lengths{5 << 20, 3 << 20};
  for (const auto how : {long_send_policy::rendezvous, long_send_policy::serial}) {
    run_ranks<baseline>(2, short_eager(how), [&](baseline& comm) {
      in_call(comm, [&](auto& net, auto now) { return everybody_to_everybody(net, now, lengths); });
    });
  }
}

TEMPLATE_TEST_CASE("every algorithm leaves long messages to the transport", "[baseline][long]",
                   standard<rc_send_receive>, degree_1<rc_send_receive>, degree_3<rc_send_receive>,
                   by_rank<rc_send_receive>) {
  all_calls<TestType>(long_send_policy::rendezvous);
  if (std::is_same_v<TestType, degree_1<rc_send_receive>>) all_calls<TestType>(long_send_policy::serial);
  if (std::is_same_v<TestType, degree_3<rc_send_receive>>)
    all_calls<TestType>(long_send_policy::rendezvous, chorale::eager_policy::rdma_write);
}

TEST_CASE("an allgather by recursive doubling makes one rendezvous per step, and exchanges no address",
          "[baseline][long]") {
  constexpr std::size_t words = 32 * 1024 / sizeof(word);
  using comm_type = degree_1<rc_send_receive>;
  for (const int size : {4, 8}) {
    auto c = settings();
    run_ranks<comm_type>(size, c, [&](comm_type& comm) {
      const auto& boxes = comm.transport().parts().mailbox();
      std::vector<word> mine(words), all(words * static_cast<std::size_t>(size));
      comm.barrier();
      for (int call = 0; call < 3; ++call) {
        const auto before = boxes.statistics();
        comm.allgather(std::span<const word>{mine}, std::span{all});
        const auto after = boxes.statistics();
        const std::uint64_t steps = size == 4 ? 2 : 3;
        if (after.requests - before.requests != steps || after.answers - before.answers != steps ||
            after.blocks != before.blocks)
          throw std::runtime_error(std::to_string(after.requests - before.requests) + " requests, " +
                                   std::to_string(after.answers - before.answers) + " answers, " +
                                   std::to_string(after.blocks - before.blocks) + " blocks");
      }
    });
  }
}

TEST_CASE("calls may be outstanding together while their messages are long", "[baseline][long]") {
  for (const auto how : {long_send_policy::rendezvous, long_send_policy::serial}) {
    run_ranks<baseline>(5, short_eager(how), [&](baseline& comm) {
      constexpr std::size_t count = 3000;
      const auto even = collectives::even(comm.size(), count);
      const auto me = collectives::of(comm, seed(), {});
      collectives::gathered_case<word> gathered{me, even, true};
      collectives::alltoall_case<word> turned{me, even, even};
      collectives::broadcast_case<word> text{me, count, 3};
      std::vector<chorale::request> pending;
      pending.push_back(comm.iallgather(gathered.mine(), gathered.all.span()));
      pending.push_back(comm.ialltoall(turned.in.span(), turned.out().span()));
      pending.push_back(comm.ibroadcast(text.data.span(), chorale::root{3}));
      if (comm.rank() % 2 == 1) pending[1].wait();
      for (auto& r : pending) r.wait();
      gathered.verify("allgather");
      turned.verify("alltoall");
      text.verify("broadcast");
    });
  }
}

TEST_CASE("an error names a message whose length differs from its destination's", "[baseline][long]") {
  struct lengths {
    std::size_t sent;
    std::size_t taken;
  };
  for (const auto [sent, taken] : {lengths{5000, 6000}, lengths{6000, 5000}, lengths{5000, 200},
                                   lengths{200, 5000}, lengths{900, 800}}) {
    for (const auto how : {long_send_policy::rendezvous, long_send_policy::serial}) {
      const auto all =
          misuse::run<baseline>(2, short_eager(how), [&, sent = sent, taken = taken](baseline& comm) {
            in_call(comm, [&](auto& net, auto now) -> chorale::task<> {
              std::vector<std::byte> memory(std::max(sent, taken));
              if (net.rank() == 0)
                co_await chorale::transfer::send(net, 1, now, span{memory}.first(sent));
              else
                co_await chorale::transfer::receive(net, 0, now, std::span{memory}.first(taken));
              // A rank that has only sent short data stays until the other rank has failed.
              co_await net.signal(1 - net.rank(), now);
              co_await net.signalled(1 - net.rank(), now);
            });
          });
      INFO(sent << " bytes into " << taken << "\n" << misuse::describe(all));
      CHECK(all[1].is(errc::mismatch));
      CHECK(all[1].names(0));
      CHECK(all[0].failed());
    }
  }
}

namespace {

/// Memory that outlives the failure of a rank, and the kind of failure.
struct scene {
  std::vector<std::byte> place = std::vector<std::byte>(100'000, std::byte{1});
  std::atomic<bool> signalled{false};
  std::atomic<bool> asked{false};
};

}  // namespace

TEST_CASE("memory of a message is not written after its call has failed", "[baseline][long]") {
  for (const auto how : {long_send_policy::rendezvous, long_send_policy::serial}) {
    scene here;
    auto c = short_eager(how);
    c.registration = chorale::registration_policy::per_operation;
    const auto all = misuse::run<baseline>(2, c, [&](baseline& comm) {
      static_cast<void>(comm.allreduce(word{1}, chorale::sum));
      in_call(comm, [&](auto& net, auto now) -> chorale::task<> {
        if (net.rank() == 0) {
          const auto taking = net.post_receive(1, now, here.place);
          co_await net.signal(1, now);
          // A wait that first receives the failure notice ends with it.
          while (!here.signalled) chorale::clock::give_way();
          throw std::domain_error("not to my taste");
        }
        const std::vector<std::byte> source(here.place.size(), std::byte{2});
        co_await net.signalled(0, now);
        here.signalled = true;
        chorale::clock::sleep_for(std::chrono::milliseconds{50});
        here.asked = true;
        const auto giving = net.post_send(0, now, source);
        co_await net.sent(0, now);
      });
    });
    INFO(misuse::describe(all));
    CHECK(here.asked);
    CHECK(std::all_of(here.place.begin(), here.place.end(), [](std::byte b) { return b == std::byte{1}; }));
    CHECK(all[0].other == "not to my taste");
    CHECK(all[0].later);
    CHECK(all[1].failed());
  }
}

TEST_CASE("a posted message that is never awaited is an error that says so", "[baseline][long]") {
  const auto all = misuse::run<baseline>(2, short_eager(long_send_policy::rendezvous), [&](baseline& comm) {
    in_call(comm, [&](auto& net, auto now) -> chorale::task<> {
      std::vector<std::byte> memory(5000);
      if (net.rank() == 0) {
        {
          const auto giving = net.post_send(1, now, memory);
        }
        co_await net.signal(1, now);
      } else {
        co_await chorale::transfer::receive(net, 0, now, std::span{memory});
      }
    });
    comm.transport().require_whole();
  });
  INFO(misuse::describe(all));
  CHECK(all[0].is(errc::misuse));
  CHECK(all[0].says({"rank 0", "to rank 1", "co_await net.sent(1, now)"}));
  CHECK(all[1].failed());
}

TEST_CASE("a rank that leaves at any step of a rendezvous is named by the waiting rank", "[baseline][long]") {
  enum class step { before_the_request, instead_of_an_answer, instead_of_the_bytes };
  const auto short_ones = GENERATE(chorale::eager_policy::receive_queue, chorale::eager_policy::rdma_write);
  for (const auto how : {long_send_policy::rendezvous, long_send_policy::serial}) {
    for (const auto at : {step::before_the_request, step::instead_of_an_answer, step::instead_of_the_bytes}) {
      auto c = short_eager(how);
      c.send_receive_eager = short_ones;
      std::array<std::optional<chorale::error>, 3> failures;
      run_anywhere(3, [&](auto& group) {
        try {
          baseline comm{group, c};
          comm.barrier();
          in_call(comm, [&](auto& net, auto now) -> chorale::task<> {
            std::vector<std::byte> memory(50'000);
            const auto& boxes = net.parts().mailbox();
            if (net.rank() == 2) co_await net.signalled(0, now);
            const bool sends = net.rank() == (at == step::instead_of_an_answer ? 0 : 1);
            if (net.rank() == 0) {
              if (sends) {
                // The signal says that the request has arrived.
                const auto giving = net.post_send(1, now, memory);
                while (boxes.statistics().requests == 0) net.progress();
                co_await net.signal(1, now);
                co_await net.sent(1, now);
              }
              co_await chorale::transfer::receive(net, 1, now, memory);
            }
            if (net.rank() != 1) co_return;
            if (!sends) {
              co_await net.signalled(0, now);
            } else if (at == step::instead_of_the_bytes) {
              // The request is sent, and the answer never read.
              const auto giving = net.post_send(0, now, memory);
              while (boxes.statistics().requests == 0) net.progress();
              throw std::domain_error("rank 1 ends");
            }
            throw std::domain_error("rank 1 ends");
          });
        } catch (const chorale::error& e) {
          failures[static_cast<std::size_t>(group.rank())] = e;
        } catch (const std::domain_error&) {
        }
      });
      INFO("step " << static_cast<int>(at));
      REQUIRE(failures[0]);
      INFO(failures[0]->what());
      CHECK(failures[0]->code() == errc::peer_lost);
      CHECK(failures[0]->ranks() == std::vector<int>{1});
      CHECK_FALSE(failures[1]);
      REQUIRE(failures[2]);
      CHECK(failures[2]->ranks() == std::vector<int>{0});
    }
  }
}
