// SPDX-License-Identifier: Apache-2.0
// Subsets of the ranks, as groups of their own.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/algorithm/allgather/two_level.hpp>
#include <chorale/algorithm/allreduce/split_level.hpp>
#include <chorale/algorithm/allreduce/two_level.hpp>
#include <chorale/algorithm/alltoall/direct.hpp>
#include <chorale/algorithm/barrier/dissemination.hpp>
#include <chorale/algorithm/barrier/last_arriver.hpp>
#include <chorale/algorithm/barrier/two_level.hpp>
#include <chorale/algorithm/broadcast/binomial.hpp>
#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/algorithm/broadcast/multicast.hpp>
#include <chorale/algorithm/gather/flat.hpp>
#include <chorale/algorithm/gather/two_level.hpp>
#include <chorale/algorithm/levels.hpp>
#include <chorale/algorithm/operation_traits.hpp>
#include <chorale/algorithm/reduce_scatter/two_level.hpp>
#include <chorale/algorithm/scan/chain.hpp>
#include <chorale/algorithm/scan/recursive_doubling.hpp>
#include <chorale/algorithm/scan/two_level.hpp>
#include <chorale/algorithm/through_blocks.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/operators.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/core/task.hpp>

#include "transport.hpp"
#include "world.hpp"

using chorale::call_id;
using chorale::operation;
using chorale::task;
using fake::transport;
using levels = chorale::levels<transport>;

namespace {

constexpr call_id now{1, 42, chorale::operation::barrier};

/// Runs `body(net)` on all ranks: by default 0 to 6, whose places are 0 3 6, 1 4 and 2 5 and share memory.
/// @returns the error; empty if there was none.
template <class Body>
std::string outcome(Body body, const fake::conditions& here = {
                                   .ranks = 7, .maps_within_place = true, .places = fake::sharing::in_turn}) {
  return fake::outcome(here, body);
}

std::vector<int> members(const chorale::subset<transport>& some) {
  std::vector<int> all;
  for (int i = 0; i < some.size(); ++i) all.push_back(some.rank_in_group(i));
  return all;
}

/// A part of an algorithm that only records its phase, in the state of the group in which it runs.
template <operation What, class = typename chorale::operation_traits<What>::arguments>
struct part;
template <operation What, class... Arguments>
struct part<What, chorale::run_arguments<Arguments...>> {
  static constexpr auto implements = What;
  static constexpr bool uneven = true;
  template <class Net>
  static constexpr bool runs_on = true;
  template <class Net>
  static task<> run(Net& net, call_id then, Arguments...) {
    net.template state<std::vector<int>>().push_back(then.phase());
    co_return;
  }
};

/// An algorithm that only checks that no message in its group would be zero copy.
struct copies_all {
  static constexpr auto implements = operation::barrier;
  template <class Net>
  static task<> run(Net& net, call_id) {
    CHECK_FALSE(chorale::transfer::is_zero_copy(net, std::size_t{1} << 40));
    co_return;
  }
};

/// Runs an algorithm of `part`s, which run twice among the ranks of each place.
template <class Algorithm, class... Arguments>
void check_phases(Arguments... arguments) {
  CHECK(outcome([&](transport& net) -> task<> {
          co_await Algorithm::run(net, now, arguments...);
          auto& of = levels::of(net);
          CHECK(of.inside().template state<std::vector<int>>() == std::vector{0, 1});
          if (of.leads()) CHECK(of.between().template state<std::vector<int>>() == std::vector{0});
        }).empty());
}

}  // namespace

TEST_CASE("through_blocks runs an algorithm among all ranks, without zero copy", "[subset]") {
  int ran = 0;
  const auto failure = outcome([&](transport& net) -> task<> {
    CHECK(chorale::transfer::is_zero_copy(net, std::size_t{1} << 40));
    co_await chorale::through_blocks<copies_all>::run(net, now);
    ++ran;
  });
  CHECK(failure.empty());
  CHECK(ran == 7);

  // A subset has no multicasts.
  STATIC_REQUIRE(chorale::through_blocks<chorale::broadcast::flat>::runs_on<transport>);
  STATIC_REQUIRE(chorale::broadcast::multicast::runs_on<transport>);
  STATIC_REQUIRE_FALSE(chorale::through_blocks<chorale::broadcast::multicast>::runs_on<transport>);
}

TEST_CASE("through_blocks is no candidate for an alltoall with a threshold of its own", "[subset]") {
  fake::conditions here{.ranks = 2, .copies_by_core = true};
  for (const bool has_own : {false, true}) {
    if (has_own) here.alltoall_zero_copy_bytes = 100;
    const auto failure = outcome(
        [has_own](transport& net) -> task<> {
          CHECK(chorale::through_blocks<chorale::alltoall::direct>::suits(net) == !has_own);
          CHECK(chorale::through_blocks<chorale::gather::flat>::suits(net));
          co_return;
        },
        here);
    CHECK(failure.empty());
  }
}

TEST_CASE("the ranks of a place, the leaders of all places and the next ranks are groups", "[subset]") {
  CHECK(outcome([](transport& net) -> task<> {
          levels& of = levels::of(net);
          const int place = net.rank() % 3;
          CHECK(members(of.inside()) == (place == 0 ? std::vector{0, 3, 6} : std::vector{place, place + 3}));
          CHECK(of.inside().rank() == net.rank() / 3);
          CHECK(of.leads() == (net.rank() < 3));
          CHECK(of.columns() == 2);
          // Rank 6 is the third of its place, and the other places have two ranks.
          if (net.rank() == 6) co_return;
          CHECK(members(of.between()) == (of.leads() ? std::vector{0, 1, 2} : std::vector{3, 4, 5}));
          CHECK(of.between().rank() == net.rank() % 3);
        }).empty());
}

TEST_CASE("algorithms keep other states in each subset", "[subset]") {
  CHECK(outcome([](transport& net) -> task<> {
          levels& of = levels::of(net);
          net.state<int>() = 1;
          of.inside().state<int>() = 2;
          if (of.leads()) of.between().state<int>() = 3;
          CHECK(net.state<int>() == 1);
          CHECK(of.inside().state<int>() == 2);
          co_return;
        }).empty());
}

TEST_CASE("memory is mapped among the ranks of a place, and not between places", "[subset]") {
  CHECK(outcome([](transport& net) -> task<> {
          levels& of = levels::of(net);
          CHECK(of.inside().maps_memory());
          if (net.rank() != 6) CHECK_FALSE(of.between().maps_memory());
          co_return;
        }).empty());
}

TEST_CASE("an algorithm composed of one over mapped memory suits places that map it", "[subset]") {
  using chorale::barrier::dissemination;
  using plain = chorale::barrier::two_level<dissemination, dissemination>;
  using mapped = chorale::barrier::two_level<dissemination, dissemination, chorale::barrier::last_arriver>;
  for (const bool maps : {true, false}) {
    const auto check = [maps](transport& net) -> task<> {
      CHECK(plain::suits(net));
      CHECK(mapped::suits(net) == maps);
      co_return;
    };
    CHECK(outcome(check, {.ranks = 7, .maps_within_place = maps, .places = fake::sharing::in_turn}).empty());
  }
}

TEST_CASE("a subset registers memory for its own ranks only", "[subset]") {
  using part = chorale::subset<transport>& (*)(transport&);
  const part inside = [](transport& net) -> auto& { return levels::of(net).inside(); };
  const part between = [](transport& net) -> auto& { return levels::of(net).between(); };
  const part mixed = [](transport& net) -> auto& {
    auto& made = net.state<std::optional<chorale::subset<transport>>>();
    if (!made) made.emplace(net, std::array{0, 2, 3});
    return *made;
  };
  // Rank 0 puts from memory registered by one subset to a rank's memory registered by another.
  const auto put_to = [](int owner, part theirs, part mine) {
    return outcome([owner, theirs, mine](transport& net) -> task<> {
      std::array<std::byte, 8> memory{};
      if (net.rank() == owner) {
        const auto exposed = theirs(net).expose(memory);
        const chorale::remote_region region = exposed.region();
        co_await net.send(0, now, chorale::transfer::bytes_of(region));
        co_await net.receive(0, now);
      }
      if (net.rank() != 0) co_return;
      const auto message = co_await net.receive(owner, now);
      const auto there = chorale::transfer::read_region(net, owner, now, message, memory.size());
      const auto lent = mine(net).lend(memory);
      co_await net.put(there, 0, lent, memory, now);
      co_await net.flush(owner, now);
      co_await net.send(owner, now, {});
    });
  };
  CHECK(put_to(3, inside, inside).empty());
  CHECK(put_to(2, between, between).empty());
  CHECK(put_to(2, mixed, mixed).empty());
  CHECK(put_to(3, mixed, mixed).empty());
  CHECK_THAT(put_to(2, inside, between),
             Catch::Contains("a put of rank 0: memory of rank 2: it was registered for other peers"));
  CHECK_THAT(put_to(3, between, inside),
             Catch::Contains("a put of rank 0: memory of rank 3: it was registered for other peers"));
  CHECK_THAT(
      put_to(3, inside, between),
      Catch::Contains("the source of a put of rank 0: memory of rank 0: it was registered for other peers"));
}

TEST_CASE("parts of a call that run among the same ranks have phases of their own", "[subset]") {
  using enum operation;
  std::array<std::byte, 7> in{};
  std::array<std::byte, 7> out{};
  const std::span<const std::byte> given = in;
  const std::span<std::byte> taken = out;
  const auto layout = chorale::block_layout::even(7, 1);
  const auto op = chorale::reduction::of<std::uint8_t>(chorale::sum);
  check_phases<chorale::barrier::two_level<part<barrier>, part<barrier>>>();
  check_phases<chorale::allgather::two_level<part<gather>, part<allgather>, part<broadcast>>>(
      chorale::blocks<std::byte>{taken, layout});
  check_phases<chorale::allreduce::two_level<part<reduce>, part<allreduce>, part<broadcast>>>(given, taken,
                                                                                              op);
  check_phases<chorale::allreduce::split_level<part<reduce_scatter>, part<allreduce>, part<allgather>>>(
      given, taken, op);
  check_phases<chorale::reduce_scatter::two_level<part<reduce>, part<reduce_scatter>, part<scatter>>>(
      chorale::blocks<const std::byte>{given, layout}, taken.first(1), op);
}

TEST_CASE("in a scan, the last place sends no total", "[subset]") {
  const auto scan = [](transport& net) -> task<> {
    using chorale::scan::two_level;
    using algorithm =
        two_level<chorale::scan::chain, chorale::scan::recursive_doubling, chorale::broadcast::binomial>;
    const auto number = static_cast<std::uint8_t>(net.rank());
    for (const bool inclusive : {true, false}) {
      const std::array in{std::byte{number}};
      std::array<std::byte, 1> out{};
      co_await algorithm::run(net, {inclusive ? 1U : 2U, 42, operation::scan}, in, out,
                              chorale::reduction::of<std::uint8_t>(chorale::sum), inclusive);
      const int sum = number * (inclusive ? number + 1 : number - 1) / 2;
      if (inclusive || number != 0) CHECK(std::to_integer<int>(out[0]) == sum);
    }
    // Places 0 1 2 and 3 4 5.
    if (number == 2) CHECK(net.sent_to(0) == 2);
    if (number == 5) CHECK(net.sent_to(3) == 0);
  };
  CHECK(outcome(scan, {.ranks = 6, .places = fake::sharing::neighbours}).empty());
}

TEST_CASE("errors in a subset name the ranks of the whole group", "[subset]") {
  const auto error = outcome([](transport& net) -> task<> {
    auto& inside = levels::of(net).inside();
    const std::array<std::byte, 3> three{};
    if (net.rank() == 4) co_await inside.send(0, now, three);
    if (net.rank() != 1) co_return;
    const auto message = co_await inside.receive(1, now);
    static_cast<void>(chorale::transfer::exact(inside, 1, now, message, 2));
  });
  CHECK_THAT(error, Catch::Contains("rank 1 expects 2 bytes from rank 4"));
}

TEST_CASE("errors between places name the operation that was called", "[subset]") {
  const auto error = outcome([](transport& net) -> task<> {
    const std::size_t bytes = net.rank() % 3 == 1 ? 4 : 2;
    const std::vector<std::byte> mine(bytes);
    std::vector<std::byte> all(7 * bytes);
    using gather = chorale::gather::two_level<chorale::gather::flat, chorale::gather::flat>;
    co_await gather::run(net, {1, 42, chorale::operation::gather}, mine,
                         {all, chorale::block_layout::even(7, bytes)}, 0);
  });
  CHECK_THAT(error, Catch::Contains("rank 0 expects 4 bytes from rank 1 in gather, which sends 8"));
}

TEST_CASE("a region of another owner is refused in a subset, too", "[subset]") {
  const auto sent_by = [](int owner) {
    return outcome([owner](transport& net) -> task<> {
      auto& inside = levels::of(net).inside();
      const chorale::remote_region region{.bytes = 8, .owner = owner};
      if (net.rank() == 5) co_await inside.send(0, now, chorale::transfer::bytes_of(region));
      if (net.rank() != 2) co_return;
      const auto message = co_await inside.receive(1, now);
      static_cast<void>(chorale::transfer::read_region(inside, 1, now, message, 8));
    });
  };
  CHECK(sent_by(5).empty());
  CHECK_THAT(sent_by(1), Catch::Contains("rank 5"));
}
