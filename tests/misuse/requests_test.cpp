// SPDX-License-Identifier: Apache-2.0
// Requests and communicators destroyed before their calls are over: whatever the peers do, the buffers are
// not written afterwards, and all ranks are notified.
#include <atomic>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include <chorale/algorithm/allgather/ring.hpp>
#include <chorale/algorithm/gather/flat.hpp>
#include <chorale/bootstrap/in_process.hpp>
#include <chorale/transport/rc_send_receive.hpp>
#include <chorale/transport/ud.hpp>

#include "harness.hpp"

using chorale::errc;
using chorale::request;
using namespace std::chrono_literals;

namespace {

using number = std::uint64_t;

constexpr number of_others = 0xfeedfacecafebeef;

/// Operands and results of one rank. `give_away` stands for freeing and reusing them, but makes later writes
/// detectable.
struct memory {
  explicit memory(std::size_t elements) : in(elements, 1), out(elements, 2) {}
  void give_away() {
    std::fill(in.begin(), in.end(), of_others);
    std::fill(out.begin(), out.end(), of_others);
  }
  [[nodiscard]] bool is_untouched() const {
    const auto untouched = [](number n) { return n == of_others; };
    return std::all_of(in.begin(), in.end(), untouched) && std::all_of(out.begin(), out.end(), untouched);
  }
  std::vector<number> in, out;
};

constexpr const char* operations[] = {"broadcast", "reduce",         "allreduce", "allgather",
                                      "alltoall",  "alltoallv",      "gather",    "scatter",
                                      "scan",      "reduce_scatter", "barrier"};

/// Begins operation number `which` on `count` elements a rank.
template <class Comm>
request begin(Comm& comm, std::size_t which, memory& m, std::size_t count, int root) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const std::span<number> one_in{m.in.data(), count}, one_out{m.out.data(), count};
  const std::span<number> all_in{m.in.data(), count * ranks}, all_out{m.out.data(), count * ranks};
  const std::span<const number> in{one_in}, blocks_in{all_in};
  switch (which) {
    case 0:
      return comm.ibroadcast(one_in, chorale::root{root});
    case 1:
      return comm.ireduce(in, one_out, chorale::sum, chorale::root{root});
    case 2:
      return comm.iallreduce(chorale::in_place, one_in, chorale::sum);
    case 3:
      return comm.iallgather(in, all_out);
    case 4:
      return comm.ialltoall(blocks_in, all_out);
    case 5: {
      const std::vector<std::size_t> counts(ranks, count);
      return comm.ialltoallv(blocks_in, counts, all_out, counts);
    }
    case 6:
      return comm.igather(in, all_out, chorale::root{root});
    case 7:
      return comm.iscatter(blocks_in, one_out, chorale::root{root});
    case 8:
      return comm.iscan(chorale::in_place, one_in, chorale::sum);
    case 9:
      return comm.ireduce_scatter(blocks_in, one_out, chorale::sum);
    default:
      return comm.ibarrier();
  }
}

chorale::config eager_zero_copy() {
  auto c = misuse::settings();
  c.zero_copy_bytes = 16 * 1024;
  return c;
}

/// Lengths of a mailbox message, a message of several blocks, and a zero-copy transfer.
constexpr std::size_t message_lengths[] = {3, 1500, 20'000};

/// Rank `victim` begins an operation and leaves by an exception before the wait, while the others enter the
/// call `late`.
template <class Comm>
void check_exception(int size, std::size_t which, std::size_t count, int victim, bool late) {
  INFO(operations[which] << " of " << count << " elements on " << size << " ranks, victim " << victim
                         << (late ? ", late peers" : ""));
  std::vector<memory> all;
  for (int r = 0; r < size; ++r) all.emplace_back(count * static_cast<std::size_t>(size));
  memory& lost = all[static_cast<std::size_t>(victim)];
  std::atomic<bool> gone{false};
  const auto outcomes = misuse::run<Comm>(size, eager_zero_copy(), [&](auto& comm) {
    // With connections to all, over which peers write without help.
    memory first{static_cast<std::size_t>(size)};
    begin(comm, 4, first, 1, 0).wait();
    comm.barrier();
    if (comm.rank() == victim) {
      try {
        const request pending = begin(comm, which, lost, count, victim);
        throw std::runtime_error("between a call and its wait");
      } catch (const std::runtime_error&) {
        lost.give_away();
      }
      gone = true;
      comm.barrier();
      return;
    }
    if (late) support::await("the victim has left", [&] { return gone.load(); });
    begin(comm, which, all[static_cast<std::size_t>(comm.rank())], count, victim).wait();
    comm.barrier();
  });
  INFO(misuse::describe(outcomes));
  CHECK(lost.is_untouched());
  const bool all_right =
      std::none_of(outcomes.begin(), outcomes.end(), [](const auto& one) { return one.failed(); });
  // A rank that only sends, such as the root of a broadcast or the first rank of a scan, may complete before
  // the others enter the call.
  const bool only_sends = which == 0 || which == 7 || which == 8;
  if (late && !only_sends) CHECK_FALSE(all_right);
  if (all_right) return;
  // If a call was withdrawn, all ranks get an error that names the withdrawing rank.
  for (const auto& one : outcomes) {
    CHECK(one.is(errc::poisoned));
    CHECK(one.says({"the request of ", "was destroyed on rank " + std::to_string(victim)}));
    CHECK(one.names(victim));
  }
}

/// An operator that destroys a request of its own communicator.
struct dropping {
  std::vector<request>* kept;
  int operator()(int a, int b) const {
    kept->clear();
    return a + b;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("an exception between a call and its wait", "[misuse][requests]", MISUSE_TRANSPORTS,
                   chorale::transport::ud) {
  using comm = chorale::communicator<TestType>;
  for (std::size_t which = 0; which < std::size(operations); ++which) {
    const auto count = message_lengths[which % 3 == 0 ? 1 : 0];
    check_exception<comm>(3, which, count, 0, true);
    check_exception<comm>(3, which, message_lengths[2], which % 2 == 0 ? 0 : 2, true);
    check_exception<comm>(5, which, message_lengths[2], 3, false);
  }
}

TEMPLATE_TEST_CASE("the same over send and receive", "[misuse][requests]",
                   chorale::transport::rc_send_receive) {
  using comm = chorale::communicator<TestType, chorale::gather::flat, chorale::allgather::ring>;
  for (const std::size_t which : {std::size_t{3}, std::size_t{6}})
    for (const std::size_t count : message_lengths) check_exception<comm>(3, which, count, 0, true);
}

TEMPLATE_TEST_CASE("a request that is dropped waits for its call", "[misuse][requests]", MISUSE_TRANSPORTS) {
  const auto outcomes = misuse::run<chorale::communicator<TestType>>(4, eager_zero_copy(), [](auto& comm) {
    for (const std::size_t count : message_lengths) {
      std::vector<number> data(count, static_cast<number>(comm.rank()) + 1);
      if (comm.rank() == 2) std::this_thread::sleep_for(20ms);
      static_cast<void>(comm.iallreduce(chorale::in_place, std::span{data}, chorale::sum));
      if (std::any_of(data.begin(), data.end(), [](number n) { return n != 10; }))
        throw std::runtime_error("a dropped call is not over");
    }
  });
  misuse::check_none_fails(outcomes);
}

TEMPLATE_TEST_CASE("a request that is dropped while a peer stays away", "[misuse][requests]",
                   MISUSE_TRANSPORTS) {
  auto c = eager_zero_copy();
  c.deadline = support::short_deadline;
  std::atomic<bool> gone{false};
  memory lost{message_lengths[2] * 3};
  const auto outcomes = misuse::run<chorale::communicator<TestType>>(3, c, [&](auto& comm) {
    memory mine{message_lengths[2] * 3};
    comm.barrier();
    if (comm.rank() == 1) {
      static_cast<void>(begin(comm, 6, lost, message_lengths[2], 1));
      lost.give_away();
      gone = true;
      comm.barrier();
    } else {
      support::await("the request is dropped", [&] { return gone.load(); });
      begin(comm, 6, mine, message_lengths[2], 1).wait();
      comm.barrier();
    }
  });
  INFO(misuse::describe(outcomes));
  CHECK(lost.is_untouched());
  for (const auto& one : outcomes) CHECK(one.is(errc::poisoned));
}

TEMPLATE_TEST_CASE("a communicator that ends before its requests", "[misuse][requests]", MISUSE_TRANSPORTS) {
  for (const bool unwinding : {true, false}) {
    auto c = eager_zero_copy();
    c.deadline = support::short_deadline;
    std::atomic<bool> gone{false};
    memory lost{message_lengths[2] * 3}, over{8};
    std::string complaints;
    chorale::bootstrap::run_in_process(3, [&](auto& group) {
      std::vector<request> kept;
      memory mine{message_lengths[2] * 3}, first{8};
      try {
        chorale::communicator<TestType> comm{group, c};
        kept.push_back(comm.iallreduce(chorale::in_place, std::span{first.in}, chorale::sum));
        kept.front().wait();
        kept.push_back(begin(comm, 2, comm.rank() == 0 ? over : first, 8, 0));
        if (comm.rank() != 0) support::await("the communicator has ended", [&] { return gone.load(); });
        kept.push_back(begin(comm, 6, comm.rank() == 0 ? lost : mine, message_lengths[2], 0));
        kept.push_back(comm.ibarrier());
        if (comm.rank() == 0 && unwinding) throw std::runtime_error("early");
        if (comm.rank() != 0) chorale::wait_all(kept);
      } catch (const std::exception& e) {
        if (group.rank() == 0 && kept.size() < 4) complaints += e.what();
      }
      if (group.rank() != 0) return;
      lost.give_away();
      gone = true;
      if (kept.size() < 4) return;
      std::this_thread::sleep_for(300ms);
      const auto expect = [&](std::size_t i, bool failure) {
        try {
          if (!kept[i].test()) complaints += "not over; ";
          if (failure) complaints += "no failure; ";
        } catch (const chorale::error& e) {
          const bool told = std::string{e.what()}.find("the communicator of") != std::string::npos ||
                            std::string{e.what()}.find("was destroyed") != std::string::npos;
          if (!failure || e.code() != errc::poisoned || !told) complaints += e.what();
        }
      };
      expect(0, false);
      expect(2, true);
      expect(3, true);
      expect(3, false);
    });
    INFO(complaints);
    CHECK(complaints.empty());
    CHECK(lost.is_untouched());
  }
}

TEMPLATE_TEST_CASE("a request that is dropped inside a call of its communicator", "[misuse][requests]",
                   MISUSE_TRANSPORTS) {
  const auto outcomes = misuse::run<chorale::communicator<TestType>>(3, misuse::settings(), [](auto& comm) {
    // A rank that finds all operands at once combines before the second request exists: its call continues.
    // If that is so on all ranks, nothing was dropped, and they try again.
    for (int round = 0; round < 1000; ++round) {
      std::vector<request> kept;
      int one = 1, two = 2;
      auto running = comm.iallreduce(chorale::in_place, std::span{&one, 1}, dropping{&kept});
      kept.push_back(comm.iallreduce(chorale::in_place, std::span{&two, 1}, chorale::sum));
      running.wait();
      const bool has_dropped = kept.empty();
      if (has_dropped && two != 2) throw std::runtime_error("the dropped call has touched its buffer");
      comm.barrier();
    }
  });
  misuse::check_all_fail(outcomes, errc::poisoned, {"was destroyed on rank"});
}

TEMPLATE_TEST_CASE("assigning to a pending request brings its call to an end", "[misuse][requests]",
                   MISUSE_TRANSPORTS) {
  const auto outcomes = misuse::run<chorale::communicator<TestType>>(3, misuse::settings(), [](auto& comm) {
    std::vector<request> all;  // grows, so that requests are moved
    int values[20];
    for (int& value : values) {
      value = comm.rank();
      all.push_back(comm.iallreduce(chorale::in_place, std::span{&value, 1}, chorale::sum));
    }
    request r = comm.ibarrier();
    auto& same = r;
    r = std::move(same);
    r = comm.ibarrier();
    r = std::move(all[19]);
    if (all[19].valid() || !all[19].test())
      throw std::runtime_error("a request that was moved from has a call");
    r = {};
    if (values[19] != 3) throw std::runtime_error("assigned over, and its call is not over");
    all.clear();
    if (std::accumulate(std::begin(values), std::end(values), 0) != 60)
      throw std::runtime_error("cleared, and the calls are not over");
    comm.barrier();
  });
  misuse::check_none_fails(outcomes);
}

TEMPLATE_TEST_CASE("a blocking call that fails leaves nothing behind", "[misuse][requests]",
                   MISUSE_TRANSPORTS) {
  // Rank 0 gathers from all; rank 1 makes a different call, which ends the gather at the root after rank 2
  // was sent the address to write to, but before rank 2 enters the call.
  memory lost{message_lengths[2] * 4};
  std::atomic<bool> gone{false};
  const auto outcomes = misuse::run<chorale::communicator<TestType, chorale::gather::flat>>(
      4, eager_zero_copy(), [&](auto& comm) {
        memory mine{message_lengths[2] * 4};
        comm.barrier();
        if (comm.rank() == 0) {
          try {
            begin(comm, 6, lost, message_lengths[2], 0).wait();
          } catch (...) {
            lost.give_away();
            gone = true;
            throw;
          }
        } else if (comm.rank() == 1) {
          comm.broadcast(std::span{mine.in}, chorale::root{1});
        } else {
          support::await("a rank has left", [&] { return gone.load(); });
          begin(comm, 6, mine, message_lengths[2], 0).wait();
        }
        comm.barrier();
      });
  INFO(misuse::describe(outcomes));
  CHECK(lost.is_untouched());
  for (const auto& one : outcomes) CHECK(one.failed());
}
