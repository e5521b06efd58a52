// SPDX-License-Identifier: Apache-2.0
// The protocol of bootstrap::tcp without sockets: bytes cut and changed at every place, strangers, errors.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "../support/seed.hpp"
#include "virtual_links.hpp"

using namespace links;
using namespace std::chrono_literals;

namespace {

tcp_bytes random_card(std::mt19937_64& random) {
  tcp_bytes card(random() % 5 == 0 ? random() % longest_tcp_card : random() % 200);
  for (std::byte& b : card) b = static_cast<std::byte>(random());
  return card;
}

bool says(const std::optional<tcp_failure>& why, const std::vector<std::string>& words) {
  if (!why) return false;
  for (const std::string& word : words)
    if (why->text.find(word) == std::string::npos)
      UNSCOPED_INFO("'" << word << "' is missing in: " << why->text);
  return std::ranges::all_of(words,
                             [&](const std::string& w) { return why->text.find(w) != std::string::npos; });
}

/// A root of two ranks, which can be given other bytes than those of its honest member.
struct alone {
  tcp_root root{tcp_claim::of_this_process(0, 2), 5, bytes_of("known")};
  tcp_member member{tcp_claim::of_this_process(1, 2), bytes_of("known"), drawn_nonce()};

  alone() { root.connected(1, "10.0.0.1:1", drawn_nonce()); }
  /// All bytes that the member sends next.
  tcp_bytes said() {
    tcp_bytes all;
    for (auto out = member.outgoing(); !out.empty(); out = member.outgoing()) {
      all.insert(all.end(), out.begin(), out.end());
      member.sent(out.size());
    }
    return all;
  }
  void answer() {
    for (auto out = root.outgoing(1); !out.empty(); out = root.outgoing(1)) {
      member.received(out);
      root.sent(1, out.size());
    }
  }
  /// Lets the member send its greeting, claim and card; `change` determines what the root receives.
  template <class Change>
  void talk(const Change& change) {
    change(said());
    answer();
    if (!member.has_greeted()) return;
    member.join();
    change(said());
    answer();
    if (!member.welcome()) return;
    member.contribute(bytes_of("a card"));
    change(said());
  }
};

}  // namespace

TEST_CASE("ranks get each other's messages, however the bytes come", "[bootstrap]") {
  const int size = GENERATE(1, 2, 3, 5, 7, 13, 17, 33);
  const std::uint64_t seed = support::seed() + static_cast<std::uint64_t>(size);
  std::mt19937_64 random{seed};
  const int root = static_cast<int>(random() % static_cast<unsigned>(size));
  virtual_links net{root, size, seed};
  for (int rank = 0; rank < size; ++rank)
    if (rank != root) net.connect(rank, size);
  net.settle();
  REQUIRE(net.root().is_complete());
  std::vector<bool> is_taken(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(size); ++i) {
    const auto welcome = net.at(i).member.welcome();
    REQUIRE(welcome);
    CHECK((welcome->job == 77 && welcome->root == root));
    is_taken.at(static_cast<std::size_t>(welcome->local_rank)) = true;
  }
  is_taken.at(static_cast<std::size_t>(net.root().welcome().local_rank)) = true;
  CHECK(std::ranges::count(is_taken, true) == size);  // all are on one host
  for (int round = 0; round < 3; ++round) {
    cards sent(static_cast<std::size_t>(size));
    for (auto& card : sent) card = random_card(random);
    net.root().contribute(sent[static_cast<std::size_t>(root)]);
    for (std::size_t i = 0; i + 1 < sent.size(); ++i)
      net.at(i).member.contribute(sent[i + (static_cast<int>(i) >= root)]);
    net.settle();
    REQUIRE(net.root().finished_round() == sent);
    net.settle();
    for (std::size_t i = 0; i + 1 < sent.size(); ++i) REQUIRE(net.at(i).member.finished_round() == sent);
  }
}

TEST_CASE("a member's bytes may be cut at every place, and end at every place", "[bootstrap]") {
  alone whole;
  std::size_t bytes = 0;
  whole.talk([&](const tcp_bytes& said) {
    whole.root.received(1, said);
    bytes += said.size();
  });
  whole.root.contribute({});
  REQUIRE(whole.root.finished_round().has_value());
  for (std::size_t cut = 0; cut < bytes; ++cut) {
    alone halves;
    std::size_t before = 0;
    halves.talk([&](const tcp_bytes& said) {
      const std::size_t first = std::clamp<std::size_t>(cut - std::min(cut, before), 0, said.size());
      halves.root.received(1, std::span{said}.first(first));
      halves.root.received(1, std::span{said}.subspan(first));
      before += said.size();
    });
    halves.root.contribute({});
    REQUIRE(halves.root.finished_round().has_value());

    alone ends;
    before = 0;
    ends.talk([&](const tcp_bytes& said) {
      const std::size_t first = std::clamp<std::size_t>(cut - std::min(cut, before), 0, said.size());
      ends.root.received(1, std::span{said}.first(first));
      before += said.size();
    });
    const bool has_joined = ends.root.is_complete();
    if (has_joined) ends.root.contribute({});
    CHECK(!ends.root.finished_round());
    ends.root.closed(1);
    // The loss of a connection is an error only if its peer has proved to be a rank.
    CHECK(has_joined == ends.root.failure().has_value());
    if (has_joined) CHECK(says(ends.root.failure(), {"rank 1", "has ended, or was killed"}));
  }
}

TEST_CASE("no changed byte of a member is believed, and the true member joins after it", "[bootstrap]") {
  std::mt19937_64 random{support::seed()};
  alone whole;
  std::size_t bytes = 0;
  whole.talk([&](const tcp_bytes& said) {
    whole.root.received(1, said);
    bytes += said.size();
  });
  for (std::size_t place = 0; place < bytes; ++place) {
    alone changed;
    std::size_t before = 0;
    changed.talk([&](tcp_bytes said) {
      if (place >= before && place < before + said.size())
        said[place - before] ^= static_cast<std::byte>(1 + random() % 255);
      before += said.size();
      changed.root.received(1, said);
    });
    if (changed.root.is_complete()) changed.root.contribute({});
    INFO("byte " << place);
    REQUIRE(!changed.root.finished_round());
    if (changed.root.is_complete()) continue;
    REQUIRE(!changed.root.failure());
    changed.root.connected(2, "10.0.0.2:2", drawn_nonce());
    tcp_member honest{tcp_claim::of_this_process(1, 2), bytes_of("known"), drawn_nonce()};
    for (int i = 0; i < 4; ++i) {
      for (auto out = honest.outgoing(); !out.empty(); out = honest.outgoing()) {
        changed.root.received(2, out);
        honest.sent(out.size());
      }
      for (auto out = changed.root.outgoing(2); !out.empty(); out = changed.root.outgoing(2)) {
        honest.received(out);
        changed.root.sent(2, out.size());
      }
      if (i == 0) honest.join();
    }
    REQUIRE(honest.welcome());
  }
}

TEST_CASE("strangers neither join nor disturb", "[bootstrap]") {
  std::mt19937_64 random{support::seed()};
  virtual_links net{0, 3, random()};
  auto stranger = [&](std::span<const std::byte> bytes) {
    const int number = net.next_number();
    net.root().connected(number, "10.9.9.9:9", drawn_nonce());
    net.root().received(number, bytes);
    return number;
  };
  for (int i = 0; i < 200; ++i) {
    net.root().received(stranger(bytes_of("GET / HTTP/1.1\r\n")), bytes_of("Host: here\r\n\r\n"));
    stranger({});
    tcp_bytes noise(random() % 300);
    for (std::byte& b : noise) b = static_cast<std::byte>(random());
    stranger(noise);
    // Begins like a member, and continues with noise.
    tcp_bytes begun(sizeof(tcp_greeting));
    const tcp_greeting greeting;
    std::memcpy(begun.data(), &greeting, sizeof greeting);
    begun.insert(begun.end(), noise.begin(), noise.end());
    stranger(begun);
    REQUIRE(!net.root().failure());
  }
  // Old strangers make room for new connections.
  int open = 0;
  for (int number = 1; number <= 800; ++number) open += !net.root().is_over(number);
  CHECK(open < 80);
  net.connect(1, 3);
  linked_member& other = net.connect(tcp_claim::of_this_process(2, 3), "another secret");
  net.settle();
  CHECK(other.member.fault() == tcp_fault::wrong_secret);
  REQUIRE(!net.root().is_complete());
  net.root().give_up(1500ms);
  CHECK(says(net.root().failure(), {"rank 0 has waited 1500 ms", "rank 2 of 3 has not come",
                                    "were not believed", "from 10.0.0.802:5", "its secret is another one"}));
  net.settle();
  CHECK(says(net.at(0).member.failure(), {"rank 2 of 3 has not come"}));
}

TEST_CASE("what goes wrong is said to all, with the ranks and the remedy", "[bootstrap]") {
  virtual_links net{0, 4, support::seed()};
  net.connect(1, 4);
  net.settle();
  tcp_claim claim = tcp_claim::of_this_process(2, 4);
  std::vector<std::string> words;
  SECTION("a second rank of the same number") {
    claim.rank = 1;
    words = {"two processes say that they are rank 1", "10.0.0.1:5", "10.0.0.2:5", "(RANK)"};
  }
  SECTION("the root's number") {
    claim.rank = 0;
    words = {"two processes say that they are rank 0", "(RANK)"};
  }
  SECTION("another size") {
    claim.size = 5;
    words = {"rank 2", "says that there are 5 ranks, rank 0", "there are 4", "(WORLD_SIZE)"};
  }
  SECTION("a rank out of range") {
    claim.rank = GENERATE(-1, 4, 2'000'000'000);
    words = {"of 4: ranks begin with 0"};
  }
  SECTION("another version") {
    std::strcpy(claim.version, "9.9.9");
    words = {"rank 2", "version 9.9.9", "install the same"};
  }
  linked_member& late = net.connect(claim);
  net.settle();
  CHECK(says(net.root().failure(), words));
  CHECK(says(late.member.failure(), words));
  CHECK(says(net.at(0).member.failure(), words));
  // A member that connects later receives the error as well.
  linked_member& later = net.connect(3, 4);
  net.settle();
  CHECK(says(later.member.failure(), words));
}

TEST_CASE("a member that is not seated yet may try again, one that is may not", "[bootstrap]") {
  tcp_root root{tcp_claim::of_this_process(0, 3), 5, bytes_of("known")};
  tcp_member member{tcp_claim::of_this_process(1, 3), bytes_of("known"), drawn_nonce()};
  root.connected(1, "10.0.0.1:1", drawn_nonce());
  for (int i = 0; i < 2; ++i) {
    for (auto out = member.outgoing(); !out.empty(); out = member.outgoing()) {
      root.received(1, out);
      member.sent(out.size());
    }
    member.closed();
    CHECK(!member.failure());
    for (auto out = root.outgoing(1); !out.empty(); out = root.outgoing(1)) {
      member.received(out);
      root.sent(1, out.size());
    }
    if (i == 0) member.join();
  }
  REQUIRE(member.is_seated());
  member.closed();
  CHECK(says(member.failure(), {"has ended, or was killed, before all ranks had come"}));
}

TEST_CASE("another protocol is told apart from another secret", "[bootstrap]") {
  tcp_root root{tcp_claim::of_this_process(0, 2), 1, bytes_of("known")};
  root.connected(1, "10.0.0.1:1", drawn_nonce());
  tcp_greeting greeting;
  greeting.protocol = 2;
  root.received(1, chorale::detail::bytes_of(greeting));
  CHECK(root.is_over(1));
  CHECK(root.outgoing(1).size() == sizeof greeting);
  tcp_member member{tcp_claim::of_this_process(1, 2), bytes_of("known"), drawn_nonce()};
  member.received(chorale::detail::bytes_of(greeting));
  CHECK(member.fault() == tcp_fault::other_version);
  CHECK(!member.has_greeted());
}

TEST_CASE("late ranks and lost ranks of an exchange are named to all", "[bootstrap]") {
  virtual_links net{1, 4, support::seed()};
  for (const int rank : {0, 2, 3}) net.connect(rank, 4);
  net.settle();
  REQUIRE(net.root().is_complete());
  net.at(0).member.contribute(bytes_of("first"));
  SECTION("the root gives up") {
    net.root().contribute(bytes_of("root"));
    net.settle();
    net.root().give_up(10ms);
    net.settle();
    CHECK(
        says(net.at(0).member.failure(), {"rank 1 has waited 10 ms, and ranks 2 and 3 of 4 have not made"}));
    CHECK(net.at(0).member.failure()->ranks == std::vector<int>{2, 3});
  }
  SECTION("a member gives up") {
    net.at(0).member.give_up(20ms);
    net.settle();
    CHECK(says(net.at(0).member.failure(),
               {"rank 0 has waited 20 ms, and ranks 1, 2 and 3 of 4 have not made"}));
    CHECK(says(net.at(2).member.failure(), {"rank 0 has waited 20 ms"}));
  }
  SECTION("one ends, which nobody has to know yet") {
    net.close(net.at(2));
    net.settle();
    CHECK(!net.root().failure());
    net.root().contribute(bytes_of("root"));
    net.settle();
    CHECK(says(net.at(0).member.failure(), {"rank 3", "has ended, or was killed"}));
    CHECK(net.at(0).member.failure()->ranks == std::vector<int>{3});
  }
  SECTION("one that has contributed ends") {
    net.at(1).member.contribute(bytes_of("second"));
    net.at(2).member.contribute(bytes_of("third"));
    net.settle();
    net.close(net.at(2));
    net.root().contribute(bytes_of("root"));
    REQUIRE(net.root().finished_round().has_value());
    net.settle();
    CHECK(net.at(0).member.finished_round()->at(3).size() == 5);
  }
  SECTION("the root ends") {
    net.at(0).member.closed();
    CHECK(
        says(net.at(0).member.failure(), {"rank 1, to which the others connect, has ended, or was killed"}));
  }
}
