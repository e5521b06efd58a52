// SPDX-License-Identifier: Apache-2.0
// Trees over connections: acknowledgements and staging besides the messages, and operands that are put.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <chorale/algorithm/allreduce/degree_k.hpp>
#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/algorithm/reduce/degree_k.hpp>
#include <chorale/transport/rc.hpp>

#include "../support/collectives/checks.hpp"
#include "ranks.hpp"

using namespace inprocess;
using namespace collectives;
using chorale::transport::rc;

namespace {

template <int K>
using tree = chorale::communicator<rc, chorale::broadcast::flat, chorale::reduce::degree_k<K>,
                                   chorale::allreduce::degree_k<K>>;

/// From 2 KiB on operands are put, from 4 KiB on results as well.
chorale::config straight() {
  auto c = settings();
  c.zero_copy_bytes = 1024;
  return c;
}

}  // namespace

TEST_CASE("the result of an allreduce acknowledges the blocks of its operands", "[trees]") {
  constexpr int calls = 160;
  auto c = settings();
  c.blocks = 16;
  std::vector<std::uint64_t> notifications(4);
  run_ranks<tree<3>>(4, c, [&](auto& comm) {
    const auto& mailbox = comm.transport().parts().mailbox();
    const std::uint64_t before = mailbox.notifications();
    std::uint64_t s = seed();
    for (int i = 0; i < calls; ++i) check_allreduce<triangle>(comm, 1, multiply{}, ++s);
    notifications[static_cast<std::size_t>(comm.rank())] = mailbox.notifications() - before;
    // Afterwards both sides agree on the credits: more messages than a mailbox holds, in both directions.
    for (int i = 0; i < 40; ++i) {
      check_reduce<triangle>(comm, 1, i % 4, multiply{}, ++s);
      check_allreduce<triangle>(comm, 0, multiply{}, ++s);
      check_allreduce<triangle>(comm, 1, multiply{}, ++s);
      check_broadcast<std::byte>(comm, 100, i % 4, ++s);
    }
  });
  // All send to rank 0, which sends no acknowledgements; each other rank releases one block of the result per
  // call, and acknowledges when eight are free.
  CHECK(notifications == std::vector<std::uint64_t>{0, calls / 8, calls / 8, calls / 8});
}

TEST_CASE("blocks of longer operands are acknowledged only as needed", "[trees]") {
  auto c = settings();
  c.block_bytes = 256;
  c.blocks = 4;
  c.zero_copy_bytes = std::size_t{1} << 30;
  for (const int size : {2, 3, 7}) {
    run_ranks<tree<1>>(size, c, [](auto& comm) {
      for (const std::size_t count : std::initializer_list<std::size_t>{1, 7, 61, 300, 1000, 3})
        check_allreduce<triangle>(comm, count, multiply{}, seed() + count);
    });
  }
}

TEST_CASE("answers and a limit on connections", "[trees]") {
  auto c = settings();
  c.connections = 2;
  run_ranks<tree<3>>(5, c, [](auto& comm) {
    std::uint64_t s = seed();
    for (int i = 0; i < 20; ++i) {
      check_allreduce<triangle>(comm, 40, multiply{}, ++s);
      check_reduce<triangle>(comm, 3, i % 5, multiply{}, ++s);
    }
  });
}

TEST_CASE("a message to several ranks is staged once", "[trees]") {
  auto c = settings();
  // The software device takes 16 KiB inline: longer messages need registered memory, as on adapters.
  c.block_bytes = 32768;
  c.zero_copy_bytes = std::size_t{1} << 30;
  constexpr std::size_t bytes = 20'000;
  constexpr std::uint64_t calls = 50;
  std::vector<std::uint64_t> copies(5);
  std::vector<std::uint64_t> copied(5);
  run_ranks<tree<3>>(5, c, [&](auto& comm) {
    const auto& figures = comm.transport().parts().mailbox().figures();
    for (std::uint64_t i = 0; i < calls; ++i) check_broadcast<std::byte>(comm, bytes, 0, seed() + i);
    const auto rank = static_cast<std::size_t>(comm.rank());
    copies[rank] = figures.staged_copies;
    copied[rank] = figures.staged_bytes;
    const auto m = comm.transport().memory();
    if (m.total_bytes() - m.queue_bytes != comm.transport().registered_bytes())
      throw std::runtime_error("the figures do not add up to what is registered");
  });
  CHECK(copies == std::vector<std::uint64_t>{calls, 0, 0, 0, 0});
  CHECK(copied == std::vector<std::uint64_t>{calls * bytes, 0, 0, 0, 0});
}

TEST_CASE("long operands are put", "[trees]") {
  for (const int size : {1, 2, 3, 5, 7, 13}) {
    if (too_large(size)) continue;
    const auto body = [](auto& comm) {
      std::size_t call = 0;
      const std::array forms{manner{}, manner{.nonblocking = true}, manner{.misalignment = 3},
                             manner{.in_place = true}};
      for (const std::size_t count : std::initializer_list<std::size_t>{200, 513, 3001, 40'000}) {
        for (const manner& m : forms) {
          // The longest in one form on each size of group, and in each form on one.
          if (count == 40'000 && &m != &forms[static_cast<std::size_t>(comm.size()) / 2 % 4]) continue;
          check_allreduce<triangle>(comm, count, multiply{}, seed() + count, m);
          // Three roots, four forms: each size occurs with each root, but not in each form.
          const std::array roots{0, comm.size() - 1, comm.size() / 2};
          check_reduce<triangle>(comm, count, roots[call++ % 3], multiply{}, seed() + count, m);
        }
      }
    };
    run_ranks<tree<1>>(size, straight(), body);
    run_ranks<tree<3>>(size, straight(), body);
  }
}

TEST_CASE("peers write nothing after a call with operands in flight has failed", "[trees]") {
  // The operator throws on one of the combining ranks, in the middle of a piece. As soon as its call has
  // failed, a rank overwrites its memory, which must then stay unchanged.
  constexpr int size = 7;
  constexpr std::size_t count = 60'000;
  for (const int thrower : {0, 2, 4}) {
    std::atomic<int> over{0};
    std::mutex mutex;
    std::string complaints;
    run_anywhere(size, [&](auto& group) {
      tree<1> comm{group, straight()};
      const auto complain = [&](const std::string& what) {
        const std::lock_guard lock{mutex};
        complaints += "rank " + std::to_string(group.rank()) + ": " + what + "\n";
      };
      std::atomic<std::size_t> combined{0};
      const auto fussy = [&](int a, int b) {
        if (group.rank() == thrower && ++combined == count / 2) throw std::domain_error("not to my taste");
        return a + b;
      };
      std::vector<int> data(count, 1);
      try {
        comm.allreduce(chorale::in_place, std::span{data}, fussy);
        comm.barrier();
        complain("did not fail");
      } catch (const std::exception& e) {
        if (std::string{e.what()}.find("not to my taste") == std::string::npos) complain(e.what());
      }
      std::fill(data.begin(), data.end(), 7);
      ++over;
      while (over < size) chorale::clock::give_way();
      if (std::count(data.begin(), data.end(), 7) != static_cast<std::ptrdiff_t>(count))
        complain("its memory was written to");
    });
    INFO("rank " << thrower << " throws");
    CHECK(complaints.empty());
  }
}
