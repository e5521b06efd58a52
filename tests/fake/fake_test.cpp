// SPDX-License-Identifier: Apache-2.0
// Tests of the fake itself: it detects and names every mistake of an algorithm.
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/task.hpp>

#include "transport.hpp"
#include "world.hpp"

using chorale::call_id;
using chorale::remote_region;
using chorale::task;
using fake::transport;

namespace {

constexpr call_id now{1, 42, chorale::operation::barrier};

/// Runs `body(net)` on all ranks. @returns the error; empty if there was none.
template <class Body>
std::string outcome(int ranks, std::uint64_t seed, Body body, std::size_t blocks = 2) {
  return fake::outcome(
      {.ranks = ranks, .seed = seed, .who = static_cast<fake::order>(seed % 4), .blocks = blocks}, body);
}
/// Checks that the error contains `words` in each of 20 schedules.
template <class Body>
void require_found(int ranks, const char* words, Body body, std::size_t blocks = 2) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    CHECK_THAT(outcome(ranks, seed, body, blocks), Catch::Contains(words));
}

std::span<const std::byte> bytes_of(const remote_region& region) {
  return std::as_bytes(std::span{&region, 1});
}
remote_region region_in(std::span<const std::byte> bytes) {
  remote_region region;
  std::memcpy(&region, bytes.data(), sizeof region);
  return region;
}

/// Rank 1 registers memory by `as` and sends its region to rank 0; rank 0 calls `use(net, region, its own
/// memory)` and then notifies rank 1. Both have 16 bytes, with value 1 on rank 0.
template <class As, class Use>
task<> one_sided(transport& net, As as, Use use, std::byte& seen) {
  std::vector<std::byte> mine(16, std::byte{net.rank() == 0});
  if (net.rank() == 1) {
    const auto registered = as(net, std::span{mine});
    const remote_region here = registered.region();
    co_await net.send(0, now, bytes_of(here));
    co_await net.receive(0, now);
    seen = mine.front();
    co_return;
  }
  remote_region there;
  {
    const auto message = co_await net.receive(1, now);
    there = region_in(message.bytes());
  }
  co_await use(net, there, mine);
  co_await net.send(1, now, {});
  co_await net.flush(1, now);
}
constexpr auto exposing = [](transport& net, std::span<std::byte> memory) { return net.expose(memory); };
constexpr auto offering = [](transport& net, std::span<std::byte> memory) { return net.offer(memory); };
constexpr auto lending = [](transport& net, std::span<std::byte> memory) { return net.lend(memory); };

}  // namespace

TEST_CASE("a deadlock is reported with each rank's wait", "[fake]") {
  require_found(3, "rank 1 waits in barrier, call 1, for rank 2: a message",
                [](transport& net) -> task<> { co_await net.receive((net.rank() + 1) % 3, now); });
  require_found(2, "rank 1 is done", [](transport& net) -> task<> {
    if (net.rank() == 0) co_await net.signalled(1, now);
  });
  require_found(2, "for rank 0: a free block", [](transport& net) -> task<> {
    if (net.rank() == 1)
      for (int i = 0; i < 3; ++i) co_await net.send(0, now, {});
  });
}

TEST_CASE("a put is complete with the next message, and not before", "[fake]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::byte seen{};
    const auto body = [&seen](bool changes) {
      return [&seen, changes](transport& net) {
        return one_sided(
            net, exposing,
            [changes](transport& n, remote_region there, std::span<std::byte> mine) -> task<> {
              const auto lent = std::make_shared<fake::registered_span>(n.lend(mine));
              co_await n.put(there, 0, *lent, mine, now);
              if (changes) mine.front() = std::byte{9};
              if (changes) co_await n.flush(1, now);
            },
            seen);
      };
    };
    // The source is deregistered before the flush.
    CHECK_THAT(outcome(2, seed, body(false)), Catch::Contains("not registered any more"));
    CHECK(outcome(2, seed, body(true)).empty());
    CHECK(seen == std::byte{9});
  }
}

TEST_CASE("memory is used only as its owner allows", "[fake]") {
  std::byte seen{};
  const auto put = [](std::size_t offset) {
    return [offset](transport& net, remote_region there, std::span<std::byte> mine) -> task<> {
      const auto lent = net.lend(mine);
      co_await net.put(there, offset, lent, mine, now);
      co_await net.flush(1, now);
    };
  };
  const auto get = [](transport& net, remote_region there, std::span<std::byte> mine) -> task<> {
    const auto exposed = net.expose(mine);
    co_await net.get(there, 0, exposed, mine, now);
  };
  CHECK(outcome(2, 1, [&](transport& net) { return one_sided(net, exposing, put(0), seen); }).empty());
  CHECK(seen == std::byte{1});
  CHECK(outcome(2, 1, [&](transport& net) { return one_sided(net, offering, get, seen); }).empty());
  require_found(2, "leaves its region",
                [&](transport& net) { return one_sided(net, exposing, put(1), seen); });
  require_found(2, "not registered for that",
                [&](transport& net) { return one_sided(net, offering, put(0), seen); });
  require_found(2, "not registered for that",
                [&](transport& net) { return one_sided(net, lending, get, seen); });
  const auto whole = put(0);
  const auto wider = [&whole](transport& net, remote_region there, std::span<std::byte> mine) {
    there.address += 1;
    return whole(net, there, mine);
  };
  require_found(2, "outside of what was registered",
                [&](transport& net) { return one_sided(net, exposing, wider, seen); });
}

TEST_CASE("an answer is valid only if the messages were released", "[fake]") {
  const auto body = [](bool gives_back, bool answers, bool says_so) {
    return [=](transport& net) -> task<> {
      for (int i = 0; i < 5; ++i) {
        const int other = 1 - net.rank();
        if (net.rank() == 0) {
          co_await net.send(other, now, {});
          const auto sent = net.sent_to(other);
          co_await net.receive(other, now);
          if (says_so) net.answered_by(other, sent);
        } else {
          auto message = co_await net.receive(other, now);
          if (gives_back) message.release();
          if (answers) net.will_answer(other);
          co_await net.send(other, now, {});
        }
      }
    };
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) CHECK(outcome(2, seed, body(true, true, true), 4).empty());
  require_found(2, "will_answer() with messages that were not given back", body(false, true, true), 4);
  require_found(2, "for rank 1: a free block", body(true, true, false), 4);
}

TEST_CASE("a payload for several ranks must not change", "[fake]") {
  require_found(3, "has changed between them", [](transport& net) -> task<> {
    std::byte memory{1};
    if (net.rank() != 0) {
      co_await net.receive(0, now);
      co_return;
    }
    auto payload = net.for_several({&memory, 1});
    co_await net.send(1, now, payload);
    memory = std::byte{2};
    co_await net.send(2, now, payload);
  });
}

TEST_CASE("anything left over at the end is an error", "[fake]") {
  require_found(2, "1 messages that were not received", [](transport& net) -> task<> {
    if (net.rank() == 0) co_await net.send(1, now, {});
  });
  require_found(2, "1 puts that were not flushed", [](transport& net) -> task<> {
    return [](transport& n) -> task<> {
      std::vector<std::byte> mine(8);
      const auto exposed = n.expose(mine);
      co_await n.put(exposed.region(), 0, exposed, mine, now);
    }(net);
  });
  require_found(2, "made an operation that it never awaited", [](transport& net) -> task<> {
    static_cast<void>(net.signal(0, now));
    co_return;
  });
}

TEST_CASE("a message is valid until it is released, and messages are released in order", "[fake]") {
  const std::vector<std::byte> text(4, std::byte{7});
  const auto talk = [&text](auto&& look) {
    return [&text, look](transport& net) -> task<> {
      if (net.rank() == 0) {
        co_await net.send(1, now, text);
        co_await net.send(1, now, text);
        co_return;
      }
      auto first = co_await net.receive(0, now);
      auto second = co_await net.receive(0, now);
      look(first, second);
    };
  };
  std::byte seen{};
  CHECK(outcome(2, 1, talk([&](auto& first, auto& second) {
                  const auto bytes = first.bytes();
                  first.release();
                  seen = bytes.front();
                  CHECK(second.bytes().front() == std::byte{7});
                  second.release();
                }))
            .empty());
  CHECK(seen == std::byte{0xdd});
  require_found(2, "not given back in their order", talk([](auto& first, auto& second) {
                  second.release();
                  first.release();
                }));
}

TEST_CASE("calls do not mix, and only transport operations are awaited", "[fake]") {
  require_found(2, "rank 1 in call 1 gets what rank 0 sent in call 2", [](transport& net) -> task<> {
    if (net.rank() == 0)
      co_await net.send(1, {2, 42, chorale::operation::barrier}, {});
    else
      co_await net.receive(0, now);
  });
  require_found(2, "awaits something that is no operation of its transport",
                [](transport&) -> task<> { co_await std::suspend_always{}; });
}

TEST_CASE("a seed reproduces a run", "[fake]") {
  const auto steps = [](std::uint64_t seed) {
    std::vector<int> order;
    const auto body = [&order](transport& net) -> task<> {
      for (std::uint64_t call = 1; call <= 5; ++call) {
        for (int r = 0; r < net.size(); ++r)
          if (r != net.rank()) co_await net.signal(r, {call, 42, chorale::operation::barrier});
        order.push_back(net.rank());
        for (int r = 0; r < net.size(); ++r)
          if (r != net.rank()) co_await net.signalled(r, {call, 42, chorale::operation::barrier});
      }
    };
    CHECK(outcome(5, seed, body).empty());
    return order;
  };
  CHECK(steps(8) == steps(8));
  CHECK(steps(8) != steps(12));
}
