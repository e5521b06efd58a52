// SPDX-License-Identifier: Apache-2.0
// Parts of a communicator: invalid requests, parts that end early or late, and many parts.
#include <atomic>
#include <cstdint>
#include <fcntl.h>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include <vector>

#include <chorale/bootstrap/in_process.hpp>
#include <chorale/window.hpp>

#include "harness.hpp"

using chorale::errc;
using chorale::error;
using misuse::check_all_right;
using misuse::expect;

namespace {

/// The sum of the ranks of the parent, over a part.
template <class Comm>
int sum_over(Comm& part, int rank_in_parent) {
  return part.allreduce(rank_in_parent, chorale::sum);
}
int open_descriptors() {
  int open = 0;
  for (int fd = 0; fd < 4096; ++fd) open += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  return open;
}

}  // namespace

TEMPLATE_TEST_CASE("parts that ranks do not agree on are refused on all ranks, and harm nothing", "[misuse]",
                   MISUSE_TRANSPORTS) {
  using list = std::vector<int>;
  for (const int size : misuse::group_sizes) {
    const auto disagree = [&](auto&& list_of) {
      const auto all = misuse::run<TestType>(
          size, [&](auto& comm) { static_cast<void>(comm.subgroup(list_of(comm.rank()))); });
      INFO(misuse::describe(all));
      for (const auto& one : all) {
        CHECK(one.is(errc::mismatch));
        CHECK(one.says({"subgroup", "rank"}));
        CHECK(one.names(0));
        CHECK(!one.later);
      }
    };
    // A different order; a different rank; a listed rank that passes a different list; an omitted rank.
    disagree([](int rank) { return rank == 0 ? list{0, 1} : list{1, 0}; });
    disagree([&](int rank) { return rank == 0 ? list{0} : list{0, rank}; });
    disagree([](int rank) { return rank == 1 ? list{} : list{0, 1}; });

    const auto refuse = [&](const list& ranks, const std::string& word) {
      const auto all = misuse::run<TestType>(size, [&](auto& comm) {
        try {
          static_cast<void>(comm.subgroup(ranks));
        } catch (const error&) {
          // On every rank, before anything is sent.
          comm.barrier();
          throw;
        }
      });
      INFO(misuse::describe(all));
      for (std::size_t r = 0; r < all.size(); ++r) {
        CHECK(all[r].is(errc::invalid_argument));
        CHECK(all[r].says({"subgroup on rank " + std::to_string(r), word}));
        CHECK(!all[r].later);
      }
    };
    refuse({0, size}, "rank " + std::to_string(size));
    refuse({-1, 0}, "rank -1");
    refuse({0, 1, 0}, "number 2");
  }
}

TEMPLATE_TEST_CASE("a colour that cannot be, and ranks that do not split, are named", "[misuse]",
                   MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    const int victim = size - 1;
    const auto all = misuse::run<TestType>(size, [&](auto& comm) {
      if (comm.rank() != victim) {
        static_cast<void>(comm.split(0));
        return;
      }
      support::refused(errc::invalid_argument, {"colour -7"}, [&] { static_cast<void>(comm.split(-7)); });
      comm.barrier();
    });
    INFO(misuse::describe(all));
    for (const auto& one : all) {
      CHECK(one.is(errc::mismatch));
      CHECK(one.says({"barrier", "split"}));
      REQUIRE(one.later);
      CHECK(one.later->code() == errc::poisoned);
    }
  }
}

TEMPLATE_TEST_CASE("a rank that leaves instead of splitting is named, and a failed parent has no parts",
                   "[misuse]", MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    const int victim = size / 2;
    std::vector<std::string> told(static_cast<std::size_t>(size));
    std::vector<std::string> after(static_cast<std::size_t>(size));
    chorale::bootstrap::run_in_process(size, [&](auto& group) {
      const auto me = static_cast<std::size_t>(group.rank());
      chorale::communicator<TestType> comm{group, misuse::settings()};
      comm.barrier();
      if (group.rank() == victim) return;
      try {
        static_cast<void>(comm.split(group.rank() % 2));
      } catch (const error& e) {
        told[me] = e.what();
      }
      try {
        static_cast<void>(comm.duplicate());
      } catch (const error& e) {
        if (e.code() == errc::poisoned) after[me] = e.what();
      }
    });
    for (int r = 0; r < size; ++r) {
      if (r == victim) continue;
      const auto i = static_cast<std::size_t>(r);
      INFO("rank " << r << ": " << told[i] << "\n  later: " << after[i]);
      CHECK(told[i].find("rank " + std::to_string(victim)) != std::string::npos);
      CHECK(after[i].find("rank " + std::to_string(victim)) != std::string::npos);
    }
  }
}

TEMPLATE_TEST_CASE("parts of one rank and of none, parts of parts, and parents that end first", "[misuse]",
                   MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    check_all_right(misuse::run<TestType>(size, [](auto& comm) {
      using comm_type = std::remove_reference_t<decltype(comm)>;
      const int me = comm.rank();
      expect(!comm.subgroup(std::vector<int>{}), "a part of nobody");
      expect(!comm.split(chorale::undefined_color), "a part without a colour");
      const std::vector<int> alone{me};
      auto single = comm.subgroup(alone);
      expect(single && single->size() == 1 && sum_over(*single, me) == me, "a part of one is another");
      const std::vector<int> first{0};
      auto only = comm.subgroup(first);
      expect((me == 0) == static_cast<bool>(only), "a part of rank 0 is another's");
      // The same colour with different keys, in the order of the keys.
      auto whole = comm.split(7, chorale::key{-me});
      expect(whole->rank() == comm.size() - 1 - me, "keys are in another order");
      auto half = whole->split(me % 2);
      std::optional pairs{half->duplicate()};
      whole.reset();
      half.reset();
      int sum = 0;
      for (int r = me % 2; r < comm.size(); r += 2) sum += r;
      expect(sum_over(*pairs, me) == sum, "a part whose parents have ended is wrong");
      {
        chorale::window<long, comm_type> w{*pairs, std::size_t{1}};
        w.fetch_and_op(0, 0, 1L, chorale::sum);
        w.fence();
        if (pairs->rank() == 0) expect(w.local()[0] == pairs->size(), "a window of a part is wrong");
      }
      pairs.reset();
      comm.barrier();
    }));
  }
}

TEMPLATE_TEST_CASE("parts are made and used while calls of the parent are pending", "[misuse]",
                   MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    check_all_right(misuse::run<TestType>(size, [](auto& comm) {
      const int me = comm.rank();
      for (const std::size_t count : {std::size_t{3}, std::size_t{40'000}}) {
        std::vector<long> mine(count, me);
        auto pending = comm.iallreduce(chorale::in_place, std::span{mine}, chorale::sum);
        auto part = comm.split(me % 2);
        auto of_part = part->ibarrier();
        auto after = comm.ibarrier();
        int sum = 0;
        for (int r = me % 2; r < comm.size(); r += 2) sum += r;
        expect(sum_over(*part, me) == sum, "a part is wrong while its parent works");
        // In a different order on odd ranks.
        if (me % 2 == 0) {
          pending.wait();
          of_part.wait();
        } else {
          of_part.wait();
          pending.wait();
        }
        after.wait();
        const long all = static_cast<long>(comm.size()) * (comm.size() - 1) / 2;
        for (const long n : mine) expect(n == all, "a call that was pending is wrong");
      }
    }));
  }
}

TEMPLATE_TEST_CASE("dozens of parts at once, and again, cost no more descriptors than once", "[misuse]",
                   MISUSE_TRANSPORTS) {
  constexpr int size = 2;
  constexpr int parts = 20;
  check_all_right(misuse::run<TestType>(size, [](auto& comm) {
    std::vector<int> left;
    for (int round = 0; round < 4; ++round) {
      comm.barrier();
      const int before = comm.allreduce(open_descriptors(), chorale::max);
      std::vector<std::remove_reference_t<decltype(comm)>> all;
      for (int i = 0; i < parts; ++i) all.push_back(comm.duplicate());
      for (auto& one : all) expect(sum_over(one, comm.rank()) == 1, "one of many parts is wrong");
      comm.barrier();
      const int open = open_descriptors();
      expect(open - before <= 8 * size * parts, std::to_string(open - before) + " descriptors for " +
                                                    std::to_string(size * parts) + " endpoints");
      comm.barrier();
      all.clear();
      comm.barrier();
      left.push_back(open_descriptors());
    }
    // Peers of soft0 keep ends of event pipes for a while, at most the peak number.
    expect(left.back() <= left.front() + 2 * parts,
           "descriptors of parts are left over: " + std::to_string(left.front()) + ", then " +
               std::to_string(left.back()));
  }));
}

TEST_CASE("parts under a limit of two connections", "[misuse]") {
  for (const int size : misuse::group_sizes) {
    auto c = misuse::settings();
    c.connections = 2;
    check_all_right(misuse::run<chorale::communicator<chorale::transport::rc>>(size, c, [](auto& comm) {
      auto part = comm.split(0, chorale::key{-comm.rank()});
      const int all = comm.size() * (comm.size() - 1) / 2;
      for (int i = 0; i < 3; ++i) {
        expect(sum_over(*part, comm.rank()) == all, "a part is wrong under a limit");
        expect(sum_over(comm, comm.rank()) == all, "its parent is wrong");
      }
    }));
  }
}

TEST_CASE("invalid groups of threads are rejected, and the cause of a failure is thrown", "[misuse]") {
  for (const int size : {0, -1, std::numeric_limits<int>::min()}) {
    support::refused(errc::invalid_argument, {std::to_string(size)}, [&] {
      chorale::bootstrap::run_in_process(size, [](auto&) { FAIL("a rank of no group runs"); });
    });
  }
  struct others_first {
    std::atomic<int>* failed;
    ~others_first() {
      while (failed != nullptr && *failed < 2) std::this_thread::yield();
    }
  };
  for (const bool early : {true, false}) {
    std::atomic<int> failed{0};
    try {
      chorale::bootstrap::run_in_process(3, [&](auto& group) {
        if (early && group.rank() == 1) throw std::domain_error("the cause");
        const others_first wait{early || group.rank() != 1 ? nullptr : &failed};
        chorale::communicator<chorale::transport::rc> comm{group, misuse::settings()};
        if (group.rank() == 1) throw std::domain_error("the cause");
        try {
          comm.barrier();
        } catch (...) {
          ++failed;
          throw;
        }
      });
      FAIL("a failure is lost");
    } catch (const std::domain_error& e) {
      CHECK(std::string{e.what()} == "the cause");
    }
  }
}
