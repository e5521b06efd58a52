// SPDX-License-Identifier: Apache-2.0
// Ranks that do not match: each gets an error, none waits forever, and the communicator says why it can no
// longer be used.
#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <stdexcept>
#include <vector>

#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>

#include "../support/collectives/checks.hpp"
#include "policies.hpp"
#include "ranks.hpp"

using namespace inprocess;
using namespace collectives;
using chorale::errc;
using chorale::error;
using chorale::transport::rc;
using chorale::transport::ud;

namespace {

/// The exception of a rank's call.
struct outcome {
  std::optional<error> failure;
  std::optional<error> later;  ///< the exception of a barrier afterwards
};

chorale::config impatient() {
  auto c = settings();
  c.deadline = std::chrono::seconds{instrumented ? 20 : 5};
  return c;
}

/// Each rank runs `body(comm)`, then a barrier; a rank without a failure keeps its communicator until the
/// others have failed.
template <class Comm>
std::vector<outcome> outcomes(int size, const chorale::config& c, const std::function<void(Comm&)>& body) {
  std::vector<outcome> all(static_cast<std::size_t>(size));
  run_anywhere(size, [&](auto& group) {
    auto& mine = all[static_cast<std::size_t>(group.rank())];
    Comm comm{group, c};
    mine.failure = support::error_of([&] { body(comm); });
    mine.later = support::error_of([&] { comm.barrier(); });
  });
  return all;
}

bool says(const error& e, const std::string& words) {
  return std::string{e.what()}.find(words) != std::string::npos;
}

/// Waits for `first` after two more calls, of the same kind on all ranks.
template <class Comm>
void several(Comm& comm, chorale::request first) {
  std::vector<int> a(10), b(10);
  auto second = comm.iallreduce(chorale::in_place, std::span{a}, chorale::sum);
  auto third = comm.iallreduce(chorale::in_place, std::span{b}, chorale::sum);
  third.wait();
  second.wait();
  first.wait();
}

/// Every rank failed with a mismatch, at the latest in the barrier, naming both; afterwards it is poisoned.
void check_mismatch(const std::vector<outcome>& all, int odd_one, const std::vector<std::string>& words) {
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const auto& o = all[rank];
    INFO("rank " << rank << ": " << (o.failure ? o.failure->what() : "no failure")
                 << "\nlater: " << (o.later ? o.later->what() : "none"));
    REQUIRE(o.later);
    const error& e = o.failure ? *o.failure : *o.later;
    CHECK(e.code() == errc::mismatch);
    CHECK(support::names(e, odd_one));
    CHECK(e.ranks().size() >= 2);
    if (o.failure) CHECK(o.later->code() == errc::poisoned);
    for (const auto& w : words) CHECK(says(e, w));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("calls that differ in anything are a mismatch on all ranks", "[failures]", standard<rc>,
                   standard<ud>, degree_1<rc>) {
  using comm_type = TestType;
  constexpr int odd = 2;
  const auto run = [&](std::function<void(comm_type&)> others, std::function<void(comm_type&)> odd_one,
                       const std::vector<std::string>& words) {
    for (const int size : {3, 5}) {
      const auto all = outcomes<comm_type>(size, impatient(), [&](comm_type& comm) {
        (comm.rank() == odd ? odd_one : others)(comm);
        // A fast rank may detect the mismatch only in its next call.
        comm.barrier();
      });
      check_mismatch(all, odd, words);
    }
  };
  SECTION("operation") {
    run([](auto& c) { c.barrier(); }, [](auto& c) { static_cast<void>(c.allreduce(1, chorale::sum)); },
        {"barrier", "allreduce"});
  }
  SECTION("root") {
    run(
        [](auto& c) {
          int x = 1;
          c.broadcast(x, chorale::root{0});
        },
        [](auto& c) {
          int x = 1;
          c.broadcast(x, chorale::root{1});
        },
        {"root 0", "root 1"});
  }
  SECTION("bytes") {
    const auto of = [](std::size_t n) {
      return [n](auto& c) {
        std::vector<int> v(n);
        c.allreduce(chorale::in_place, std::span{v}, chorale::sum);
      };
    };
    run(of(4), of(5), {"16", "20 bytes"});
  }
  SECTION("type") {
    run([](auto& c) { static_cast<void>(c.allreduce(1, chorale::sum)); },
        [](auto& c) { static_cast<void>(c.allreduce(1.0F, chorale::sum)); }, {"int32", "float32"});
  }
  SECTION("operator") {
    run([](auto& c) { static_cast<void>(c.allreduce(1, chorale::sum)); },
        [](auto& c) { static_cast<void>(c.allreduce(1, chorale::max)); }, {"sum", "max"});
  }
  SECTION("in the first of several nonblocking calls") {
    run([](auto& c) { several(c, c.ibarrier()); },
        [](auto& c) {
          int x = 1;
          several(c, c.ibroadcast(std::span{&x, 1}, chorale::root{odd}));
        },
        {"barrier", "broadcast"});
  }
  SECTION("in the last of several nonblocking calls") {
    const auto of = [](std::size_t n) {
      return [n](auto& c) {
        std::vector<int> v(n), w(100);
        auto first = c.iallreduce(chorale::in_place, std::span{w}, chorale::sum);
        auto second = c.iallreduce(chorale::in_place, std::span{v}, chorale::sum);
        second.wait();
        first.wait();
      };
    };
    run(of(4), of(5), {"16", "20 bytes"});
  }
}

TEMPLATE_TEST_CASE("with the smallest packets the ranks are told as well", "[failures]", standard<rc>,
                   standard<ud>) {
  auto c = impatient();
  c.mtu = 256;
  const auto all = outcomes<TestType>(4, c, [](TestType& comm) {
    if (comm.rank() == 3)
      static_cast<void>(comm.allreduce(1.0, chorale::sum));
    else
      comm.barrier();
    comm.barrier();
  });
  check_mismatch(all, 3, {});
}

TEMPLATE_TEST_CASE("no root outside the group, and no harm done", "[failures]", standard<rc>, standard<ud>) {
  run_ranks<TestType>(3, settings(), [](auto& comm) {
    for (const int root : {-1, 3, 1 << 30}) {
      int x = 0;
      for (const bool reduce : {false, true}) {
        refused(errc::invalid_argument, {"root"}, [&] {
          if (reduce)
            comm.reduce(std::span<const int>{&x, 1}, std::span{&x, 1}, chorale::sum, chorale::root{root});
          else
            comm.broadcast(x, chorale::root{root});
        });
      }
    }
    std::vector<int> two(2), three(3);
    refused(errc::invalid_argument, {},
            [&] { comm.allreduce(std::span<const int>{two}, std::span{three}, chorale::sum); });
    check_allreduce<int>(comm, 10, chorale::sum, seed());
  });
}

TEMPLATE_TEST_CASE("a rank that has left is named by those who need it", "[failures]", standard<rc>,
                   standard<ud>) {
  for (const bool nonblocking : {false, true}) {
    const auto failures = errors_of<TestType>(4, impatient(), [&](auto& comm) {
      comm.barrier();
      if (comm.rank() == 2) return;
      if (nonblocking)
        comm.ibarrier().wait();
      else
        comm.barrier();
    });
    for (const std::size_t rank : {0U, 1U, 3U}) {
      REQUIRE(failures[rank]);
      INFO(failures[rank]->what());
      CHECK(failures[rank]->code() == errc::peer_lost);
      CHECK(support::names(*failures[rank], 2));
      CHECK(says(*failures[rank], "has left"));
    }
  }
}

TEMPLATE_TEST_CASE("what came while a rank did not run is found, though its sender has left meanwhile",
                   "[failures]", standard<rc>, standard<ud>) {
  std::atomic<bool> stands_still{false};
  std::atomic<bool> has_left{false};
  const auto until = [](const std::atomic<bool>& flag) {
    support::await("another rank has done its part", [&] { return flag.load(); });
  };
  std::string complaint;
  run_anywhere(2, [&](auto& group) {
    {
      TestType comm{group, impatient()};
      comm.barrier();
      if (group.rank() == 0) {
        until(stands_still);
      } else {
        auto& net = comm.transport();
        const auto begin = chorale::clock::now();
        // Waits until the slow path runs, finds nothing, and then does not run for a while. The awaited
        // message, and then the farewell, arrive in that time.
        const auto ready = [&] {
          if (has_left) return true;
          if (chorale::clock::now() - begin < std::chrono::milliseconds{50}) return false;
          stands_still = true;
          until(has_left);
          chorale::clock::sleep_for(3 * chorale::transport::failure_detector::last_messages);
          return false;
        };
        try {
          net.wait(0, net.current(), ready);
        } catch (const error& e) {
          complaint = e.what();
          stands_still = true;
        }
      }
    }
    if (group.rank() == 0) has_left = true;
  });
  INFO(complaint);
  CHECK(complaint.empty());
}

TEMPLATE_TEST_CASE("a rank that never calls is named when the deadline passes", "[failures]", standard<rc>,
                   standard<ud>) {
  auto c = settings();
  c.deadline = support::short_deadline;
  std::vector<std::optional<error>> failures(4);
  std::atomic<int> failed{0};
  run_anywhere(4, [&](auto& group) {
    TestType comm{group, c};
    static_cast<void>(comm.allreduce(1, chorale::sum));
    if (group.rank() == 1) {
      support::await("all others have failed", [&] { return failed == 3; });
      return;
    }
    failures[static_cast<std::size_t>(group.rank())] =
        support::error_of([&] { static_cast<void>(comm.allreduce(1, chorale::sum)); });
    ++failed;
  });
  for (const std::size_t rank : {0U, 2U, 3U}) {
    REQUIRE(failures[rank]);
    INFO(failures[rank]->what());
    CHECK(failures[rank]->code() == errc::deadline);
    CHECK(support::names(*failures[rank], 1));
    CHECK(says(*failures[rank], "CHORALE_DEADLINE_MS"));
  }
}

TEMPLATE_TEST_CASE("an operator that throws ends the call on all ranks", "[failures]", standard<rc>,
                   standard<ud>, degree_1<rc>) {
  for (const bool nonblocking : {false, true}) {
    std::vector<std::string> said(5);
    run_anywhere(5, [&](auto& group) {
      TestType comm{group, impatient()};
      // The algorithm decides which ranks combine.
      const auto fussy = [](int, int) -> int { throw std::domain_error("not to my taste"); };
      std::vector<int> data(3000);
      auto& mine = said[static_cast<std::size_t>(group.rank())];
      try {
        if (nonblocking)
          comm.iallreduce(chorale::in_place, std::span{data}, fussy).wait();
        else
          comm.allreduce(chorale::in_place, std::span{data}, fussy);
        comm.barrier();
      } catch (const std::exception& e) {
        mine = e.what();
      }
      try {
        comm.barrier();
        mine += "; NOT POISONED";
      } catch (const error& e) {
        if (e.code() != errc::poisoned) mine += "; NOT POISONED: " + std::string{e.what()};
      }
    });
    for (const auto& s : said) {
      INFO(s);
      CHECK(s.find("not to my taste") != std::string::npos);
      CHECK(s.find("NOT POISONED") == std::string::npos);
    }
  }
}

TEST_CASE("ranks with different settings do not make a communicator", "[failures]") {
  const auto all_refuse = [](const std::function<void(chorale::config&)>& change, const std::string& words) {
    std::vector<std::optional<error>> failures(3);
    run_anywhere(3, [&](auto& group) {
      auto c = impatient();
      if (group.rank() == 1) change(c);
      failures[static_cast<std::size_t>(group.rank())] = support::error_of([&] { standard<rc>{group, c}; });
    });
    for (const auto& f : failures) {
      REQUIRE(f);
      INFO(f->what());
      CHECK(f->code() == errc::mismatch);
      CHECK(support::names(*f, 1));
      CHECK(says(*f, words));
    }
  };
  all_refuse([](auto& c) { c.block_bytes = 512; }, "CHORALE_BLOCK_BYTES");
  all_refuse([](auto& c) { c.blocks = 4; }, "CHORALE_BLOCKS");
}

TEST_CASE("ranks with different transports do not make a communicator", "[failures]") {
  std::vector<std::optional<error>> failures(2);
  run_anywhere(2, [&](auto& group) {
    failures[static_cast<std::size_t>(group.rank())] = support::error_of([&] {
      if (group.rank() == 0)
        standard<rc>{group, impatient()};
      else
        standard<ud>{group, impatient()};
    });
  });
  for (const auto& f : failures) {
    REQUIRE(f);
    INFO(f->what());
    CHECK(f->code() == errc::mismatch);
    CHECK(says(*f, "transport"));
  }
}
