// SPDX-License-Identifier: Apache-2.0
// Algorithms that declare their order of evaluation (`algorithm/evaluation.hpp`) evaluate in exactly that
// order.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/algorithm/allreduce/rabenseifner.hpp>
#include <chorale/algorithm/allreduce/rank_by_rank.hpp>
#include <chorale/algorithm/allreduce/recursive_doubling.hpp>
#include <chorale/algorithm/allreduce/reproducible.hpp>
#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/reduce/rank_by_rank.hpp>
#include <chorale/algorithm/reduce/reproducible.hpp>
#include <chorale/algorithm/reduce/scatter_gather.hpp>
#include <chorale/algorithm/reduce_scatter/circulant.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>
#include <chorale/algorithm/reduce_scatter/last_arriver.hpp>
#include <chorale/algorithm/reduce_scatter/rank_by_rank.hpp>
#include <chorale/algorithm/reduce_scatter/recursive_halving.hpp>
#include <chorale/algorithm/scan/by_shares.hpp>
#include <chorale/algorithm/scan/chain.hpp>
#include <chorale/chorale.hpp>

#include "../support/collectives/checks.hpp"
#include "ranks.hpp"

using collectives::wrong;

namespace {

template <class... Algorithms>
using with = chorale::communicator<chorale::transport::rc, Algorithms...>;

/// The operand of rank `rank`: numbers of both signs and all magnitudes, so that any other order of
/// evaluation rounds differently.
std::vector<double> numbers_of(int rank, std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t h = chorale::detail::mix(chorale::weight_of(static_cast<std::uint64_t>(rank)) + i);
    values[i] = std::ldexp(static_cast<double>(static_cast<std::int64_t>(h)), static_cast<int>(h % 41) - 83);
  }
  return values;
}

std::vector<double> serial_sum(int ranks, std::size_t count) {
  auto all = numbers_of(0, count);
  for (int r = 1; r < ranks; ++r) {
    const auto next = numbers_of(r, count);
    for (std::size_t i = 0; i < count; ++i) all[i] += next[i];
  }
  return all;
}

bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

/// `body(comm, elements)` for groups and sizes, on each rank.
template <class Comm, class Body>
void on_groups(const Body& body) {
  for (const int ranks : {3, 4, 7, 8}) {
    if (inprocess::too_large(ranks)) continue;
    inprocess::run_ranks<Comm>(ranks, inprocess::settings(), [&](Comm& comm) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{77}, std::size_t{3001}, std::size_t{40000}})
        body(comm, count);
    });
  }
}

template <class Comm>
std::vector<double> allreduced(Comm& comm, std::size_t count) {
  auto data = numbers_of(comm.rank(), count);
  comm.allreduce(chorale::in_place, std::span{data}, chorale::sum);
  return data;
}

}  // namespace

TEMPLATE_TEST_CASE("serial allreduces have the bits of a loop over the ranks", "[evaluation]",
                   chorale::allreduce::reproducible, chorale::allreduce::last_arriver,
                   chorale::allreduce::rank_by_rank) {
  STATIC_REQUIRE(chorale::evaluation_of<TestType> == chorale::evaluation::serial);
  on_groups<with<TestType>>([](auto& comm, std::size_t count) {
    if (!same_bits(allreduced(comm, count), serial_sum(comm.size(), count)))
      throw wrong("sums of " + std::to_string(count) + " numbers");
  });
}

TEMPLATE_TEST_CASE("serial reduces have the bits of a loop over the ranks", "[evaluation]",
                   chorale::reduce::reproducible, chorale::reduce::scatter_gather,
                   chorale::reduce::rank_by_rank) {
  STATIC_REQUIRE(chorale::evaluation_of<TestType> == chorale::evaluation::serial);
  on_groups<with<TestType>>([](auto& comm, std::size_t count) {
    const int root = comm.size() - 1;
    const auto mine = numbers_of(comm.rank(), count);
    std::vector<double> out(count);
    comm.reduce(mine, out, chorale::sum, chorale::root{root});
    if (comm.rank() == root && !same_bits(out, serial_sum(comm.size(), count)))
      throw wrong("sums of " + std::to_string(count) + " numbers");
  });
}

TEMPLATE_TEST_CASE("serial reduce-scatters have the bits of a loop over the ranks", "[evaluation]",
                   chorale::reduce_scatter::direct, chorale::reduce_scatter::last_arriver,
                   chorale::reduce_scatter::rank_by_rank) {
  STATIC_REQUIRE(chorale::evaluation_of<TestType> == chorale::evaluation::serial);
  on_groups<with<TestType>>([](auto& comm, std::size_t count) {
    const auto ranks = static_cast<std::size_t>(comm.size());
    const auto mine = numbers_of(comm.rank(), count * ranks);
    std::vector<double> out(count);
    comm.reduce_scatter(mine, out, chorale::sum);
    const auto all = serial_sum(comm.size(), count * ranks);
    if (!same_bits(out, std::span{all}.subspan(count * static_cast<std::size_t>(comm.rank()), count)))
      throw wrong("blocks of " + std::to_string(count) + " numbers");
  });
}

TEMPLATE_TEST_CASE("serial scans have the bits of a loop over the ranks", "[evaluation]",
                   chorale::scan::chain, chorale::scan::by_shares) {
  STATIC_REQUIRE(chorale::evaluation_of<TestType> == chorale::evaluation::serial);
  on_groups<with<TestType>>([](auto& comm, std::size_t count) {
    auto data = numbers_of(comm.rank(), count);
    comm.scan(chorale::in_place, std::span{data}, chorale::sum);
    if (!same_bits(data, serial_sum(comm.rank() + 1, count)))
      throw wrong("inclusive scans of " + std::to_string(count) + " numbers");
    data = numbers_of(comm.rank(), count);
    comm.exscan(chorale::in_place, std::span{data}, chorale::initial{0.0}, chorale::sum);
    if (!same_bits(data, comm.rank() == 0 ? std::vector<double>(count) : serial_sum(comm.rank(), count)))
      throw wrong("exclusive scans of " + std::to_string(count) + " numbers");
  });
}

TEST_CASE("rabenseifner has the bits of recursive doubling", "[evaluation]") {
  using chorale::allreduce::rabenseifner;
  using chorale::allreduce::recursive_doubling;
  STATIC_REQUIRE(chorale::evaluation_of<rabenseifner> == chorale::evaluation::doubling);
  STATIC_REQUIRE(chorale::evaluation_of<recursive_doubling> == chorale::evaluation::doubling);
  std::map<std::pair<int, std::size_t>, std::vector<double>> doubled;  // by ranks and count
  on_groups<with<recursive_doubling>>([&](auto& comm, std::size_t count) {
    const auto sums = allreduced(comm, count);
    if (comm.size() > 3 && count > 1 && same_bits(sums, serial_sum(comm.size(), count)))
      throw wrong("these operands do not tell brackets apart");
    if (comm.rank() == 0) doubled[{comm.size(), count}] = sums;
  });
  on_groups<with<rabenseifner>>([&](auto& comm, std::size_t count) {
    if (!same_bits(allreduced(comm, count), doubled.at({comm.size(), count})))
      throw wrong("sums of " + std::to_string(count) + " numbers");
  });
}

TEST_CASE("unordered algorithms do not take turns where bits matter", "[automatic][evaluation]") {
  using chorale::reduce_scatter::circulant;
  using chorale::reduce_scatter::recursive_halving;
  STATIC_REQUIRE(chorale::evaluation_of<recursive_halving> == chorale::evaluation::unordered);
  STATIC_REQUIRE(chorale::evaluation_of<circulant> == chorale::evaluation::unordered);
  // On 5 ranks recursive_halving uses another algorithm, which has other brackets than circulant.
  using unordered = with<chorale::automatic<recursive_halving, circulant>>;
  inprocess::run_ranks<unordered>(5, inprocess::settings(), [](unordered& comm) {
    const auto mine = numbers_of(comm.rank(), 77 * 5);
    std::vector<double> first(77);
    comm.reduce_scatter(mine, first, chorale::sum);
    for (int i = 0; i < 200; ++i) {
      std::vector<double> out(77);
      comm.reduce_scatter(mine, out, chorale::sum);
      if (!same_bits(out, first)) throw wrong("the bits of call " + std::to_string(i));
    }
  });
}
