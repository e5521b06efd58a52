// SPDX-License-Identifier: Apache-2.0
// An algorithm's own memory, exposed to peers and destroyed by an exception of the algorithm.
#include <atomic>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include <chorale/algorithm/transfer.hpp>

#include "harness.hpp"

using chorale::errc;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t bytes_of_scratch = 1 << 16;
constexpr std::byte of_the_call{1}, of_others{0x5a}, of_peers{7};

/// State shared by the ranks of one call, which are threads.
struct taking {
  std::vector<std::byte> memory = std::vector<std::byte>(bytes_of_scratch, of_the_call);
  std::atomic<bool> given_away{false};  ///< the memory has another owner
  std::atomic<int> tried{0};            ///< peers that have tried to write since
  int peers = 0;
};
taking* current = nullptr;

/// Stands for a vector in an algorithm. Its destructor gives the memory to a new owner, and waits until the
/// peers have tried to write.
class scratch {
 public:
  scratch() = default;
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    std::fill(current->memory.begin(), current->memory.end(), of_others);
    current->given_away = true;
    for (int i = 0; i < 300 && current->tried < current->peers; ++i) std::this_thread::sleep_for(1ms);
  }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return current->memory; }
};

struct counted {
  ~counted() { ++current->tried; }
};

/// A barrier in which rank 0 sends all others the address of its memory, and throws; they write there
/// afterwards.
struct leaving {
  static constexpr auto implements = chorale::operation::barrier;
  template <class T>
  static constexpr bool runs_on = chorale::one_sided_transport<T>;

  template <chorale::one_sided_transport Net>
  static chorale::task<> invite(Net& net, chorale::call_id now, chorale::remote_region here) {
    for (int peer = 1; peer < net.size(); ++peer)
      co_await net.send(peer, now, chorale::transfer::bytes_of(here));
    for (int peer = 1; peer < net.size(); ++peer) static_cast<void>(co_await net.receive(peer, now));
    throw std::domain_error("not to my taste");
  }
  template <chorale::one_sided_transport Net>
  static chorale::task<> run(Net& net, chorale::call_id now) {
    if (net.rank() == 0) {
      const scratch mine;
      const auto exposed = net.expose(mine.bytes());
      co_await invite(net, now, exposed.region());
      co_return;
    }
    chorale::remote_region there;
    {
      const auto message = co_await net.receive(0, now);
      there = chorale::transfer::read_region(net, 0, now, message, bytes_of_scratch);
    }
    const std::vector<std::byte> source(bytes_of_scratch, of_peers);
    const auto lent = net.lend(source);
    co_await net.send(0, now, {});
    while (!current->given_away) std::this_thread::yield();
    const counted attempt;
    co_await net.put(there, 0, lent, source, now);
    co_await net.flush(0, now);
  }
};

/// The same, but rank 0 catches its exception and continues.
struct going_on {
  static constexpr auto implements = chorale::operation::barrier;
  template <class T>
  static constexpr bool runs_on = chorale::one_sided_transport<T>;

  template <chorale::one_sided_transport Net>
  static chorale::task<> run(Net& net, chorale::call_id now) {
    try {
      co_await leaving::run(net, now);
    } catch (const std::domain_error&) {
    }
  }
};

template <class Transport, class Algorithm>
misuse::outcomes run(taking& here, int size, bool blocking) {
  here.peers = size - 1;
  current = &here;
  return misuse::run<chorale::communicator<Transport, Algorithm>>(size, misuse::settings(), [&](auto& comm) {
    // So that transports that choose paths have connections.
    for (int i = 0; i < 40; ++i) static_cast<void>(comm.allreduce(1, chorale::sum));
    if (blocking)
      comm.barrier();
    else
      comm.ibarrier().wait();
  });
}

}  // namespace

TEMPLATE_TEST_CASE("peers do not reach what an exception of the algorithm ends", "[misuse][scratch]",
                   MISUSE_TRANSPORTS) {
  for (const bool blocking : {true, false}) {
    for (const int size : {2, 4}) {
      taking here;
      const auto all = run<TestType, leaving>(here, size, blocking);
      INFO(misuse::describe(all));
      CHECK(std::all_of(here.memory.begin(), here.memory.end(), [](std::byte b) { return b == of_others; }));
      CHECK(all[0].other == "not to my taste");
      for (std::size_t r = 1; r < all.size(); ++r) CHECK(all[r].failed());
      for (const auto& one : all) CHECK(one.later);
    }
  }
}

TEMPLATE_TEST_CASE("a call does not go on after an exception has ended memory that peers were told of",
                   "[misuse][scratch]", chorale::transport::rc) {
  for (const bool blocking : {true, false}) {
    taking here;
    const auto all = run<TestType, going_on>(here, 2, blocking);
    INFO(misuse::describe(all));
    CHECK(all[0].is(errc::misuse));
    CHECK(all[0].says({"barrier", "going_on", "has caught it"}));
    CHECK(all[1].failed());
  }
}
