// SPDX-License-Identifier: Apache-2.0
// Runs every algorithm over a fake transport: sizes, roots, counts, schedules.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/algorithm/every_algorithm.hpp>
#include <chorale/algorithm/operation_traits.hpp>
#include <chorale/algorithm/start.hpp>
#include <chorale/core/operators.hpp>
#include <chorale/core/type_name.hpp>

#include "../support/instrumented.hpp"
#include "../support/seed.hpp"
#include "moving_checks.hpp"
#include "reducing_checks.hpp"
#include "world.hpp"

namespace fake {

/// For each rank, the last barrier that it has begun; shared by all ranks of a run.
using barriers = std::vector<std::uint64_t>;

/// An algorithm, with a function that makes and checks one call.
template <class Net>
struct candidate {
  std::string name;
  chorale::operation what;
  chorale::operation also;  ///< the operation with uneven blocks; none if not supported
  bool is_reduction;
  std::function<chorale::task<>(Net&, round, barriers&)> check;
};

template <class A>
inline constexpr bool is_serial =
    std::same_as<A, chorale::allreduce::last_arriver> || std::same_as<A, chorale::allreduce::reproducible> ||
    std::same_as<A, chorale::reduce::reproducible> || std::same_as<A, chorale::reduce::scatter_gather> ||
    std::same_as<A, chorale::allreduce::rank_by_rank> || std::same_as<A, chorale::reduce::rank_by_rank> ||
    std::same_as<A, chorale::reduce_scatter::rank_by_rank> ||
    std::same_as<A, chorale::reduce_scatter::direct> || std::same_as<A, chorale::reduce_scatter::standard> ||
    std::same_as<A, chorale::reduce_scatter::last_arriver>;
template <class A>
inline constexpr bool takes_long_elements =
    std::same_as<A, chorale::allreduce::rank_by_rank> || std::same_as<A, chorale::reduce::rank_by_rank> ||
    std::same_as<A, chorale::reduce_scatter::rank_by_rank> || std::same_as<A, chorale::scan::chain> ||
    std::same_as<A, chorale::scan::by_shares>;

/// Calls `check(operator, T{})`, alternating between operators that commute, operators that do not, and
/// operators whose result shows the order of evaluation.
template <class A, class Check>
chorale::task<> with_operator(const round& call, Check&& check) {
  if constexpr (is_serial<A>) {
    if (call.seed % 4 == 0) return check(serial{}, std::uint32_t{});
  }
  if constexpr (takes_long_elements<A>) {
    if (call.seed % 4 == 1 && call.count < 10) return check(join_long{}, long_stretch{});
  }
  if (call.seed % 4 == 2) return check(chorale::sum, std::uint64_t{});
  return check(join_neighbours{}, stretch_of_ranks{});
}

template <class A, class Net>
chorale::task<> check_call(Net& net, round call, barriers& came) {
  using chorale::operation;
  constexpr operation what = A::implements;
  // A function pointer with known argument types, so that each check is compiled once for all algorithms.
  const run_of<what, Net> run = [](Net& n, chorale::call_id now, auto... arguments) -> chorale::task<> {
    return chorale::start<A>(n, now, arguments...);
  };
  if constexpr (what == operation::barrier)
    return check_barrier<Net>(net, run, call, came);
  else if constexpr (what == operation::broadcast)
    return check_broadcast<Net>(net, run, call);
  else if constexpr (what == operation::allgather)
    return check_allgather<Net>(net, run, call);
  else if constexpr (what == operation::alltoall)
    return check_alltoall<Net>(net, run, call);
  else if constexpr (what == operation::gather)
    return check_gather<Net>(net, run, call);
  else if constexpr (what == operation::scatter)
    return check_scatter<Net>(net, run, call);
  else if constexpr (what == operation::exchange)
    return check_exchange<Net>(net, run, call);
  else
    return with_operator<A>(call, [&](auto op, auto element) {
      using T = decltype(element);
      if constexpr (what == operation::reduce)
        return check_reduce<T>(net, run, call, op);
      else if constexpr (what == operation::allreduce)
        return check_allreduce<T>(net, run, call, op);
      else if constexpr (what == operation::reduce_scatter)
        return check_reduce_scatter<T>(net, run, call, op);
      else
        return check_scan<T>(net, run, call, op);
    });
}

template <class A, class Net>
candidate<Net> candidate_of() {
  using chorale::operation;
  constexpr operation what = A::implements;
  operation also = chorale::operation_traits<what>::also;
  if (what == operation::reduce_scatter) also = what;
  if constexpr (requires { A::uneven; })
    if (!A::uneven) also = operation::none;
  return {chorale::name(what) + std::string{" "} + chorale::type_name<A>(), what, also,
          chorale::operation_traits<what>::is_reduction, &check_call<A, Net>};
}
/// Further parameters, at the edges of what algorithms accept.
using further_parameters =
    chorale::type_list<chorale::allgather::recursive_doubling_at<1000>, chorale::alltoall::bruck_k<3>,
                       chorale::alltoall::bruck_k<40>, chorale::allreduce::recursive_multiplying<3>,
                       chorale::allreduce::degree_k<3, chorale::broadcast::flat>,
                       chorale::allreduce::reduce_multicast<3>>;

/// All algorithms that run on `Net`.
template <class Net>
std::vector<candidate<Net>> candidates() {
  std::vector<candidate<Net>> all;
  const auto add = [&]<class... Algorithms>(chorale::type_list<Algorithms...>) {
    const auto add_one = [&]<class A>() {
      if constexpr (A::template runs_on<Net>) all.push_back(candidate_of<A, Net>());
    };
    (add_one.template operator()<Algorithms>(), ...);
  };
  add(chorale::every_algorithm{});
  add(further_parameters{});
  return all;
}

/// Makes calls of an algorithm, one after the other, on all ranks of a world.
template <class Net>
void run_calls(const candidate<Net>& one, const conditions& c, const std::vector<std::size_t>& counts,
               int calls) {
  barriers came(static_cast<std::size_t>(c.ranks));
  const auto program = [&](Net& net) -> chorale::task<> {
    for (int i = 0; i < calls; ++i) {
      const auto number = static_cast<std::uint64_t>(i) + 1;
      round call{{number, 0, one.what},
                 mixed(c.seed + number),
                 counts[static_cast<std::size_t>(i) % counts.size()],
                 static_cast<int>((c.seed + number) % static_cast<unsigned>(c.ranks)),
                 false};
      call.uneven = one.also != chorale::operation::none && mixed(call.seed) % 2 == 0;
      if (call.uneven) call.now.what = one.also;
      call.now.signature = static_cast<std::uint32_t>(call.seed);
      co_await one.check(net, call, came);
    }
  };
  INFO(one.name << ": " << c.describe());
  try {
    fake::run_ranks<Net>(c, program);
    SUCCEED();
  } catch (const std::exception& e) {
    FAIL(e.what());
  }
}

/// Conditions derived from a seed.
inline conditions conditions_of(int ranks, std::uint64_t seed) {
  auto pick = [n = seed](auto... choices) mutable {
    n = mixed(n);
    return std::array{choices...}[n % sizeof...(choices)];
  };
  return {.ranks = ranks,
          .seed = seed,
          .who = pick(order::random, order::in_turn, order::deep, order::laggard),
          .block_bytes = pick(std::size_t{64}, std::size_t{96}, std::size_t{256}, std::size_t{1000}),
          .blocks = pick(std::size_t{2}, std::size_t{3}, std::size_t{16}),
          .zero_copy_bytes = pick(std::size_t{1}, std::size_t{100}, std::size_t{1000}, std::size_t{1} << 30),
          .multicast_window = pick(std::size_t{1}, std::size_t{2}, std::size_t{32}),
          .keeps_keys = pick(true, false),
          .oversubscribed = pick(true, false),
          .copies_by_core = pick(true, false),
          .maps_memory = pick(true, true, false),
          .maps_within_place = pick(true, true, false),
          .places = pick(sharing::all, sharing::none, sharing::neighbours, sharing::in_turn, sharing::drawn),
          .blind_rank = pick(-1, -1, -1, ranks - 1),
          .refuses = pick(refusal::none, refusal::some, refusal::all)};
}

/// Counts around zero, a word, an element, a block and several blocks.
inline std::vector<std::size_t> counts_of(const conditions& c) {
  const std::size_t block = c.block_bytes;
  if (c.ranks > 8) return {3, 0, block + 1, 100};
  return {0, 1, 7, 8, 100, block - 1, block, block + 1, 5 * block + 3, 2000};
}

/// Runs every algorithm on groups of many sizes, under several conditions each. With sanitizers fewer and
/// smaller groups suffice to execute the same lines.
template <class Net>
void check_all() {
  const std::vector<int> sizes = support::instrumented
                                     ? std::vector<int>{1, 2, 3, 5, 8, 13}
                                     : std::vector<int>{1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 33};
  for (const auto& one : candidates<Net>()) {
    for (const int ranks : sizes) {
      const int runs = support::instrumented ? 1 : ranks <= 8 ? 5 : 3;
      for (int i = 0; i < runs; ++i) {
        const auto c =
            conditions_of(ranks, mixed(support::seed() + static_cast<std::uint64_t>(ranks * 100 + i)));
        run_calls(one, c, counts_of(c), ranks <= 8 ? 12 : 6);
      }
    }
  }
}

/// Uses each rank of a group as the root once, in some order.
template <class Net>
void check_roots() {
  for (const auto& one : candidates<Net>()) {
    if (one.what != chorale::operation::broadcast && one.what != chorale::operation::reduce &&
        one.what != chorale::operation::gather && one.what != chorale::operation::scatter)
      continue;
    for (const int ranks : {2, 3, 5, 7, 12, 13, 16, 17}) {
      const auto c = conditions_of(ranks, mixed(support::seed() + static_cast<std::uint64_t>(ranks)));
      run_calls(one, c, {5}, ranks);
    }
  }
}

}  // namespace fake
