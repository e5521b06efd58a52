// SPDX-License-Identifier: Apache-2.0
// Communicators made from a communicator: their members, and their independence.
#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>

#include "../support/collectives/checks.hpp"
#include "parts.hpp"
#include "policies.hpp"
#include "ranks.hpp"

using namespace inprocess;
using namespace collectives;
using chorale::request;
using chorale::transport::rc;
using chorale::transport::ud;

namespace {

/// Checks that `part` consists of `members` (numbers of the original group) in that order, and that it works.
template <class Comm>
void check_part(std::optional<Comm> part, const std::vector<int>& members, int me) {
  const auto place = std::find(members.begin(), members.end(), me);
  if (place == members.end()) {
    if (part) throw wrong("a rank without a part has got a communicator");
    return;
  }
  if (!part) throw wrong("a rank has got no communicator");
  if (part->size() != static_cast<int>(members.size()) || part->rank() != place - members.begin())
    throw wrong("rank " + std::to_string(me) + " is rank " + std::to_string(part->rank()) + " of " +
                std::to_string(part->size()));
  std::vector<int> all(members.size());
  part->allgather(std::span<const int>{&me, 1}, std::span{all});
  if (all != members) throw wrong("the ranks of a part are others, or in another order");
  check_allreduce<triangle>(*part, 50, multiply{}, seed(), {});
  part->barrier();
}

}  // namespace

TEMPLATE_TEST_CASE("split makes the groups that colours and keys say", "[split]", standard<rc>,
                   standard<ud>) {
  for (const int size : {1, 2, 3, 5, 8}) {
    run_ranks<TestType>(size, settings(), [&](auto& comm) {
      std::mt19937_64 plan{seed()};
      for (int trial = 0; trial < 4; ++trial) {
        const coloured drawn{size, plan};
        const auto me = static_cast<std::size_t>(comm.rank());
        check_part(comm.split(drawn.colors[me], chorale::key{drawn.keys[me]}), drawn.members(comm.rank()),
                   comm.rank());
        comm.barrier();
      }
      std::vector<int> all(static_cast<std::size_t>(size));
      for (int r = 0; r < size; ++r) all[static_cast<std::size_t>(r)] = r;
      check_part(std::optional{comm.duplicate()}, all, comm.rank());
    });
  }
}

TEST_CASE("each round of a split is a separate allgather", "[split]") {
  // Blocks so small that each round would use the collective buffer, whose signals belong to a call.
  auto c = settings();
  c.block_bytes = 512;
  c.zero_copy_bytes = 8192;
  run_ranks<standard<rc>>(16, c, [](auto& comm) {
    const int me = comm.rank();
    for (int trial = 0; trial < 3; ++trial) {
      std::vector<int> members;
      for (int r = me % 2; r < comm.size(); r += 2) members.push_back(r);
      check_part(comm.split(me % 2), members, me);
    }
  });
}

TEST_CASE("subgroup takes ranks in the order of the list", "[split]") {
  run_ranks<standard<rc>>(6, settings(), [](auto& comm) {
    const std::vector<int> first{4, 0, 2};
    const std::vector<int> second{5, 3};
    const bool even = comm.rank() % 2 == 0;
    const auto& mine = even ? first : second;
    check_part(comm.subgroup(comm.rank() == 1 ? std::span<const int>{} : std::span<const int>{mine}), mine,
               comm.rank());
    // The others name a group that does not contain them.
    check_part(comm.subgroup(second), second, comm.rank());
  });
}

TEST_CASE("parts of parts, and parts that outlive their parents", "[split]") {
  run_anywhere(8, [](auto& group) {
    const int me = group.rank();
    auto whole = std::make_unique<standard<rc>>(group, settings());
    auto half = whole->split(me / 4);
    auto pair = half->split(me % 4 / 2, chorale::key{-me});
    whole.reset();
    half.reset();
    const int first = me / 2 * 2;
    check_part(std::move(pair), {first + 1, first}, me);
  });
}

TEST_CASE("invalid lists of ranks are rejected", "[split]") {
  run_ranks<standard<rc>>(3, settings(), [](auto& comm) {
    const auto rejected = [&](const std::vector<int>& ranks, chorale::errc code) {
      refused(code, {}, [&] { static_cast<void>(comm.subgroup(ranks)); });
    };
    rejected({0, 3}, chorale::errc::invalid_argument);
    rejected({-1}, chorale::errc::invalid_argument);
    rejected({0, 1, 0}, chorale::errc::invalid_argument);
    // All ranks detect differing lists, without other effects.
    rejected(comm.rank() == 0 ? std::vector{0, 1} : std::vector{0, 1, 2}, chorale::errc::mismatch);
    rejected(comm.rank() == 1 ? std::vector<int>{} : std::vector{0, 1}, chorale::errc::mismatch);
    refused(chorale::errc::invalid_argument, {}, [&] { static_cast<void>(comm.split(-7)); });
    comm.barrier();
  });
}

TEST_CASE("a group that fails affects neither other groups nor its parent", "[split]") {
  run_ranks<standard<rc>>(6, settings(), [](auto& comm) {
    auto part = comm.split(comm.rank() % 2);
    auto kept = comm.duplicate();
    if (comm.rank() % 2 == 0) {
      // Rank 0 leaves the even part, whose other ranks wait until they fail.
      if (comm.rank() == 0) {
        part.reset();
      } else {
        const auto barrier = [&] { part->barrier(); };
        expect(support::error_of(barrier).has_value(), "a barrier without rank 0 is over");
        refused(chorale::errc::poisoned, {}, barrier);
      }
    } else {
      for (int i = 0; i < 100; ++i) part->barrier();
    }
    kept.barrier();
    comm.barrier();
    check_part(comm.split(comm.rank() / 3), comm.rank() < 3 ? std::vector{0, 1, 2} : std::vector{3, 4, 5},
               comm.rank());
  });
}

TEMPLATE_TEST_CASE("requests of several communicators are waited for in any order", "[split]", standard<rc>,
                   standard<ud>) {
  // A barrier of five or eight ranks has three rounds, a gather of many blocks more.
  for (const int size : {5, 8}) {
    run_ranks<TestType>(size, settings(), [&](auto& comm) {
      auto b = comm.duplicate();
      auto c = comm.split(0, chorale::key{-comm.rank()});
      for (int trial = 0; trial < 10; ++trial) {
        std::vector<request> begun;
        begun.push_back(comm.ibarrier());
        begun.push_back(b.ibarrier());
        begun.push_back(c->ibarrier());
        for (int i = 0; i < 3; ++i) begun[static_cast<std::size_t>((i + comm.rank()) % 3)].wait();
        // One of the barriers is a blocking call.
        auto r = comm.ibarrier();
        if (comm.rank() % 2 == 0) {
          b.barrier();
          r.wait();
        } else {
          r.wait();
          b.barrier();
        }
      }
    });
  }
}

TEMPLATE_TEST_CASE("hundreds of calls of three communicators at once", "[split]", standard<rc>,
                   standard<ud>) {
  for (const int size : {3, 5, 8}) {
    run_ranks<TestType>(size, settings(), [&](auto& comm) {
      std::vector<TestType> others;
      others.push_back(comm.duplicate());
      others.push_back(*comm.split(0, chorale::key{-comm.rank()}));
      std::vector<TestType*> comms{&comm, &others[0], &others[1]};
      std::mt19937_64 own{seed() + static_cast<unsigned>(comm.rank())};
      constexpr std::size_t calls = 150;
      std::mt19937_64 plan{seed()};
      std::vector<guarded_buffer<triangle>> data;
      std::vector<request> begun;
      std::vector<std::size_t> kinds;
      for (std::size_t i = 0; i < calls; ++i) {
        TestType& one = *comms[plan() % comms.size()];
        data.emplace_back(plan() % 300);
        data.back().fill_with([&](std::size_t k) { return operand<triangle>(seed() + i, one.rank(), k); });
        kinds.push_back(plan() % 3);
        if (kinds.back() == 0) {
          begun.push_back(one.ibroadcast(data.back().span(), chorale::root{size / 2}));
        } else if (kinds.back() == 1) {
          begun.push_back(one.iallreduce(chorale::in_place, data.back().span(), multiply{}));
        } else {
          begun.push_back(one.ibarrier());
        }
      }
      std::vector<std::size_t> order(calls);
      for (std::size_t i = 0; i < calls; ++i) order[i] = i;
      std::shuffle(order.begin(), order.end(), own);
      for (const std::size_t i : order) {
        if (own() % 2 == 0)
          begun[i].wait();
        else
          await(std::move(begun[i]));
        if (kinds[i] == 0)
          data[i].check("broadcast",
                        [&](std::size_t k) { return operand<triangle>(seed() + i, size / 2, k); });
        else if (kinds[i] == 1)
          data[i].check("allreduce", [&](std::size_t k) {
            return expected_reduction<triangle>(seed() + i, size, k, multiply{});
          });
      }
    });
  }
}

TEST_CASE("the error of a call driven by another call's wait appears at its own request", "[split]") {
  run_ranks<standard<rc>>(2, settings(), [](auto& comm) {
    std::optional doomed{comm.duplicate()};
    if (comm.rank() == 1) doomed.reset();
    if (comm.rank() == 0) {
      auto lost = doomed->ibarrier();
      for (int i = 0; i < 200; ++i) comm.barrier();
      refused(chorale::errc::peer_lost, {}, [&] { lost.wait(); });
    } else {
      for (int i = 0; i < 200; ++i) comm.barrier();
    }
    comm.barrier();
  });
}

TEMPLATE_TEST_CASE("ranks know which of them share a host, or believe it", "[split]", standard<rc>,
                   standard<ud>) {
  if (left_out_in_virtual_time("its hosts are those of the machine")) return;
  struct layout {
    const char* text;
    std::vector<int> of;
  };
  for (const auto& [text, of] : {layout{"", {0, 0, 0, 0, 0}}, layout{"5x1", {0, 1, 2, 3, 4}},
                                 layout{"1,3,1", {0, 1, 1, 1, 2}}, layout{"3x2c", {0, 1, 2, 0, 1, 2}}}) {
    auto c = settings();
    c.places = text;
    run_ranks<TestType>(static_cast<int>(of.size()), c, [&of = of](auto& comm) {
      const auto check = [](const auto& on, const std::vector<int>& wanted) {
        for (int r = 0; r < on.size(); ++r)
          if (on.hosts().of(r) != wanted[static_cast<std::size_t>(r)])
            throw wrong("rank " + std::to_string(r) + " is in place " + std::to_string(on.hosts().of(r)));
        if (on.hosts().ranks() != on.size()) throw wrong("the layout has another number of ranks");
      };
      check(comm, of);
      auto near = comm.split_by_host();
      check(near, std::vector<int>(of.size(), 0));
      check_part(std::optional{std::move(near)}, coloured{of}.members(comm.rank()), comm.rank());
      // Places are those of the job, even if the communicator numbers its ranks differently.
      auto turned = comm.split(0, chorale::key{-comm.rank()});
      std::vector<int> numbers;
      std::vector<int> expected;
      for (auto place = of.rbegin(); place != of.rend(); ++place) {
        const auto known = std::find(numbers.begin(), numbers.end(), *place);
        expected.push_back(static_cast<int>(known - numbers.begin()));
        if (known == numbers.end()) numbers.push_back(*place);
      }
      check(*turned, expected);
      comm.barrier();
    });
  }
}

TEST_CASE("a layout must be that of the group, and the same on all ranks", "[split]") {
  auto c = settings();
  c.places = "2x2";
  const auto made = [&](chorale::config own, support::any_group& group) -> std::string {
    try {
      const standard<rc> comm{group, own};
      return "made";
    } catch (const chorale::error& e) {
      return e.what();
    }
  };
  std::vector<std::string> said(6);
  run_anywhere(
      3, [&](support::any_group& group) { said[static_cast<std::size_t>(group.rank())] = made(c, group); });
  c.places = "3";
  run_anywhere(3, [&](support::any_group& group) {
    auto own = c;
    if (group.rank() == 2) own.places = "1x3c";
    said[3 + static_cast<std::size_t>(group.rank())] = made(own, group);
  });
  for (std::size_t i = 0; i < said.size(); ++i) {
    INFO(said[i]);
    CHECK(said[i].find("CHORALE_PLACES") != std::string::npos);
    CHECK(said[i].find(i < 3 ? "a layout of 4 ranks" : "differs between ranks") != std::string::npos);
  }
}
