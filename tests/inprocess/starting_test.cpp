// SPDX-License-Identifier: Apache-2.0
// Joining a large group: one rank is real, the cards of the others are invented. Its knowledge is compared
// with facts computed directly from the cards.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <malloc.h>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <chorale/transport/joining/joining.hpp>
#include <chorale/transport/rc.hpp>

#include "../../lib/transport/group/membership.hpp"
#include "../../lib/transport/group/rank_card.hpp"
#include "../../lib/transport/group/terms.hpp"
#include "../support/instrumented.hpp"
#include "../support/seed.hpp"

using namespace chorale;
using namespace chorale::transport;
using support::seed;

namespace {

cpu_mask first_cores(int count) {
  cpu_mask mask{};
  for (int c = 0; c < count; ++c)
    mask.words[static_cast<std::size_t>(c) / 64] |= std::uint64_t{1} << (c % 64);
  return mask;
}

verbs::endpoint_address made_up_address(std::uint64_t from) {
  verbs::endpoint_address address{};
  std::memcpy(address.gid.raw, &from, sizeof from);
  address.lid = static_cast<std::uint16_t>(from * 3 + 5);
  return address;
}

bool is_same(const verbs::endpoint_address& a, const verbs::endpoint_address& b) {
  return a.lid == b.lid && std::memcmp(a.gid.raw, b.gid.raw, sizeof a.gid.raw) == 0;
}

/// A card of rank `r` on host number `host`.
rank_card made_up(int r, int host) {
  rank_card card;
  card.qp_number = static_cast<std::uint32_t>(r);
  const std::uint64_t word = 0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(r + 1);
  const auto half = static_cast<std::uint32_t>(word >> 32);
  card.numbers = {word, word * 3, half, half * 3, half * 5, half * 7};
  card.host = 1000 + static_cast<std::uint64_t>(host);
  card.process = {1'000'000 + r, 1, 0};
  return card;
}

/// A bootstrap with one real rank, number 0; the others are on hosts of `on_host` ranks each.
struct large_group {
  int ranks;
  int on_host;
  std::size_t bytes = 0;  ///< of all messages of both rounds

  bootstrap::cards exchange(std::span<const std::byte> mine) {
    bootstrap::cards all(static_cast<std::size_t>(ranks));
    const auto own = read_card(mine);
    for (int r = 0; r < ranks; ++r) {
      auto& one = all[static_cast<std::size_t>(r)];
      if (r == 0) {
        one.assign(mine.begin(), mine.end());
      } else if (own) {
        rank_card card = made_up(r, r / on_host);
        card.terms = own->card.terms;
        card.address = own->card.address;
        if (r < on_host) card.host = own->card.host;
        std::vector<verbs::endpoint_address> more(own->card.ports - std::size_t{1});
        for (auto& address : more) address = made_up_address(static_cast<std::uint64_t>(r));
        one = write_card(card, own->cores, more);
      } else {
        const std::string text = r % on_host == 0 ? fmt::format("\1node{:05}", r / on_host) : "\1";
        const auto raw = std::as_bytes(std::span{text});
        one.assign(raw.begin(), raw.end());
      }
      bytes += one.size();
    }
    return all;
  }
  [[nodiscard]] group_view view() {
    group_view v;
    v.size = ranks;
    v.job = [] { return std::string{"made up"}; };
    v.launched = v.job;
    v.composition = [] { return std::string{"standard"}; };
    v.exchange = [this](std::span<const std::byte> mine) { return exchange(mine); };
    return v;
  }
};

config settings() {
  config c;
  c.device = "soft0";
  return c;
}

/// Notifies no rank at its end.
joined_group join_alone(large_group& group) {
  joined_group joined = join(group.view(), rc::plan(group.ranks, settings()));
  joined.expected = false;
  return joined;
}

/// The anonymous memory of this process in bytes; code that it runs for the first time does not count.
std::int64_t resident_bytes() {
  malloc_trim(0);
  std::ifstream facts{"/proc/self/smaps_rollup"};
  std::int64_t kibibytes = 0;
  for (std::string word; kibibytes == 0 && facts >> word;)
    if (word == "Anonymous:") facts >> kibibytes;
  return kibibytes * 1024;
}

/// What a rank over `rc` has touched once it has joined and has not communicated yet.
std::int64_t bytes_kept(int ranks, int on_host = 64) {
  const std::int64_t before = resident_bytes();
  large_group group{ranks, on_host};
  const one_rail<rc_kind> rank{join_alone(group)};
  return resident_bytes() - before;
}

}  // namespace

TEST_CASE("cards are small, and can be read back", "[starting]") {
  std::mt19937_64 random{seed()};
  CHECK(write_card(rank_card{}, first_cores(0)).size() == 120);
  CHECK(write_card(rank_card{}, first_cores(64)).size() == 128);
  CHECK(write_card(rank_card{}, first_cores(1024)).size() == 248);
  CHECK(write_card(rank_card{}, first_cores(64), std::vector<verbs::endpoint_address>(3)).size() ==
        128 + 3 * 24);
  const near_card empty{};
  CHECK(write_card(rank_card{}, first_cores(64), {}, &empty).size() == 128 + 32);
  for (int trial = 0; trial < 1000; ++trial) {
    cpu_mask cores{};
    for (auto& word : cores.words)
      if (random() % 3 == 0) word = random();
    rank_card card = made_up(static_cast<int>(random() % 100'000), static_cast<int>(random() % 1000));
    card.has_service = static_cast<std::uint8_t>(random() % 2);
    card.zero_copy_kib = static_cast<std::uint8_t>(random() % 256);
    card.address = made_up_address(random());
    std::vector<verbs::endpoint_address> more(random() % 4);
    for (auto& address : more) address = made_up_address(random());
    const near_card near{made_up_address(random()), static_cast<std::uint32_t>(random()), 77};
    const bool has_near = random() % 2 == 0;
    auto bytes = write_card(card, cores, more, has_near ? &near : nullptr);
    const auto read = read_card(bytes);
    REQUIRE(read);
    CHECK(read->card.has_near == (has_near ? 1 : 0));
    CHECK(read->near.qp_number == (has_near ? near.qp_number : 0));
    CHECK(read->near.zero_copy_kib == (has_near ? 77 : 0));
    if (has_near) CHECK(is_same(read->near.address, near.address));
    CHECK((read->cores.words == cores.words && read->card.host == card.host &&
           read->card.numbers == card.numbers && read->card.process == card.process &&
           read->card.has_service == card.has_service && read->card.zero_copy_kib == card.zero_copy_kib));
    REQUIRE(read->card.ports == 1 + more.size());
    CHECK(is_same(read->address(0), card.address));
    for (std::size_t i = 0; i < more.size(); ++i) CHECK(is_same(read->address(i + 1), more[i]));
    // Truncated and longer cards, and other versions, are rejected.
    CHECK(!read_card(std::span{bytes}.first(random() % bytes.size())));
    bytes.push_back(std::byte{});
    CHECK(!read_card(bytes));
    bytes.pop_back();
    bytes[0] ^= std::byte{1};
    CHECK(!read_card(bytes));
    CHECK(version_of_card(bytes) != rank_card::binary_interface);
  }
}

TEST_CASE("a membership knows hosts, cores and secrets, whatever the order of the ranks", "[starting]") {
  std::mt19937_64 random{seed()};
  for (const int ranks : {1, 2, 3, 5, 7, 13, 64, 500}) {
    std::vector<int> host_of;
    std::vector<cpu_mask> cores;
    const int hosts = 1 + static_cast<int>(random() % 9);
    for (int r = 0; r < ranks; ++r) {
      host_of.push_back(static_cast<int>(random() % static_cast<unsigned>(hosts)));
      cores.push_back(first_cores(1 + static_cast<int>(random() % 100)));
    }
    const int me = static_cast<int>(random() % static_cast<unsigned>(ranks));
    const rank_card mine = made_up(me, host_of[static_cast<std::size_t>(me)]);
    std::size_t zero_copy_from = 0;
    membership members{me, ranks, {}, "by hand", 7};
    membership others{0, ranks, {}, "by hand", 7};
    for (int r = 0; r < ranks; ++r) {
      const auto at = static_cast<std::size_t>(r);
      rank_card card = made_up(r, host_of[at]);
      card.zero_copy_kib = static_cast<std::uint8_t>(random() % 256);
      zero_copy_from = std::max(zero_copy_from, std::size_t{card.zero_copy_kib} * 1024);
      members.add({card, cores[at]}, mine);
      others.add({card, cores[at]}, made_up(0, host_of[0]));
    }
    members.complete();
    others.complete();
    bool oversubscribed = false;
    std::map<int, int> lowest;
    for (int r = 0; r < ranks; ++r) {
      const int host = host_of[static_cast<std::size_t>(r)];
      lowest.try_emplace(host, r);
      std::vector<bool> usable(1024);
      int there = 0;
      for (int s = 0; s < ranks; ++s) {
        const auto at = static_cast<std::size_t>(s);
        if (host_of[at] != host) continue;
        ++there;
        for (std::size_t c = 0; c < usable.size(); ++c)
          if ((cores[at].words[c / 64] >> (c % 64) & 1) != 0) usable[c] = true;
      }
      if (there > std::count(usable.begin(), usable.end(), true)) oversubscribed = true;
    }
    CHECK(members.hosts() == static_cast<int>(lowest.size()));
    CHECK(members.zero_copy_from() == zero_copy_from);
    CHECK(members.is_oversubscribed() == oversubscribed);
    CHECK(members.numbers() == others.numbers());
    CHECK(members.neighbours().empty());
    for (const auto& [host, r] : lowest) members.name_host_of(r, "node\x1b" + std::to_string(host));
    for (int r = 0; r < ranks; ++r) {
      const int host = host_of[static_cast<std::size_t>(r)];
      CHECK(members.names_its_host(r) == (lowest.at(host) == r));
      CHECK(members.host_of(r).find('\x1b') == std::string::npos);
      CHECK(members.host_of(r).ends_with(std::to_string(host)));
      CHECK(members.process_of(r) == nullptr);
    }
  }
}

TEST_CASE("terms have equal fingerprints if and only if they match, and the error names the difference",
          "[starting]") {
  group_terms mine;
  mine.set_transport("rc");
  mine.set_composition("standard");
  mine.ports[0].is_soft = mine.ports[0].is_for_all = 1;
  std::strcpy(mine.ports[0].device, "soft0");
  std::strcpy(mine.host.name, "here");
  mine.pid_namespace = 1;
  REQUIRE_NOTHROW(require_same_terms(0, mine, 1, mine));
  const auto differs = [&](const std::function<void(group_terms&)>& change, const std::string& words) {
    group_terms theirs = mine;
    change(theirs);
    CHECK(theirs.fingerprint() != mine.fingerprint());
    try {
      require_same_terms(3, mine, 5, theirs);
      FAIL(words << " may differ");
    } catch (const error& e) {
      INFO(e.what());
      CHECK(std::string{e.what()}.find(words) != std::string::npos);
      CHECK(std::string{e.what()}.find("rank 5") != std::string::npos);
    }
  };
  differs([](auto& t) { t.messages.block_bytes = 4096; },
          "config::block_bytes differs between ranks: 0 on rank 3, 4096");
  differs([](auto& t) { t.messages.blocks = 3; }, "config::blocks");
  differs([](auto& t) { t.messages.zero_copy_bytes = 3; }, "config::zero_copy_bytes");
  differs([](auto& t) { t.messages.zero_copy_bytes = message_terms::unset; },
          "config::zero_copy_bytes differs between ranks: 0 on rank 3, unset on rank 5");
  differs([](auto& t) { t.messages.alltoall_zero_copy_bytes = 3; }, "config::alltoall_zero_copy_bytes");
  differs([](auto& t) { t.messages.eager_bytes = 3; }, "config::send_receive_eager_bytes");
  differs([](auto& t) { t.messages.eager_way = 3; }, "config::send_receive_eager differs");
  differs([](auto& t) { t.messages.send_block_bytes = 3; }, "config::send_receive_block_bytes");
  differs([](auto& t) { t.messages.long_sends = 3; }, "config::send_receive_long");
  differs([](auto& t) { t.messages.near = 1; }, "config::near");
  differs([](auto& t) { t.tuning = 3; }, "the tuning table");
  differs([](auto& t) { t.trials = 2; }, "config::trials");
  differs([](auto& t) { t.numbers ^= 2; }, "the format of numbers differs between ranks");
  differs([](auto& t) { t.connections = 3; }, "config::connections");
  differs([](auto& t) { t.set_transport("ud"); }, "the transport differs between ranks: rc on rank 3, ud");
  differs([](auto& t) { t.set_composition("scan chain; else standard"); }, "'scan chain; else standard'");
  differs([](auto& t) { t.ports[0].is_soft = 0; }, "the kind of device");
  differs([](auto& t) { t.ports[0].fabric = 3; }, "is in one");
  differs([](auto& t) { t.user.is_closed = 1; }, "is protected from its own user");
  differs([](auto& t) { t.ports[0].fabric = 3, t.user.group = 9; }, "runs with group 9");
  differs([](auto& t) { t.ports[0].fabric = 3, t.pid_namespace = 0; }, "find themselves in /proc");
  differs([](auto& t) { std::strcpy(t.host.name, "there"); }, "is on there");
  differs([](auto& t) { std::strcpy(t.host.boot, "another kernel"); }, "reaches one host only");
  differs([](auto& t) { t.port_count = 2; },
          "the number of device ports differs between ranks: 1 (soft0) on rank 3, 2 (soft0, ) on rank 5");
  // The same holds for further ports. Soft devices that reach only some ranks may be in different fabrics.
  mine.port_count = 2;
  std::strcpy(mine.ports[1].device, "mlx5_1");
  differs([](auto& t) { t.ports[1].is_soft = 1; },
          "the kind of device of device port 2 of 2 differs between ranks: mlx5_1");
  mine.ports[1].is_soft = 1;
  differs([](auto& t) { t.ports[1].is_for_all = 1; },
          "the reach of device port 2 of 2 differs between ranks: some ranks on rank 3, all ranks on rank 5");
  mine.ports[1].is_for_all = 1;
  differs([](auto& t) { t.ports[1].fabric = 3; },
          "soft0 of device port 2 of 2 connects processes of one fabric");
  // In the form that is sent.
  group_terms read;
  const std::vector<std::byte> sent{mine.bytes().begin(), mine.bytes().end()};
  REQUIRE(read_terms(sent, read));
  CHECK(read.fingerprint() == mine.fingerprint());
  CHECK(!read_terms(std::span{sent}.first(sent.size() - 1), read));
  CHECK(!read_terms(std::span{sent}.first(sent.size() - sizeof(port_terms)), read));
  mine.port_count = group_terms::most_ports;
  CHECK(read_terms(mine.bytes(), read));
  // Facts that only appear in errors do not count.
  group_terms alike = mine;
  alike.user.id = 7;
  CHECK(alike.fingerprint() == mine.fingerprint());
}

TEST_CASE("a rank joins thousands by two messages of constant size", "[starting]") {
  for (const int ranks : {16, 1024, 4096}) {
    for (const int on_host : {1, 64}) {
      large_group group{ranks, std::min(on_host, ranks)};
      const joined_group joined = join_alone(group);
      CHECK(joined.size() == ranks);
      CHECK(joined.members->hosts() == ranks / group.on_host);
      CHECK(joined.members->host_of(ranks - 1) ==
            (ranks == group.on_host ? joined.members->host_of(0)
                                    : fmt::format("node{:05}", (ranks - 1) / group.on_host)));
      CHECK(joined.ports.all.front().address_of(ranks - 1).lid == joined.ports.all.front().address_of(0).lid);
      const auto own_name = joined.members->host_of(0).size();
      const auto mask = write_card(rank_card{}, this_process_cpus()).size();
      const auto names = static_cast<std::size_t>(joined.members->hosts() - 1) * std::strlen("node00000");
      CHECK(group.bytes == static_cast<std::size_t>(ranks) * (mask + 1) + own_name + names);
    }
  }
}

TEST_CASE("a rank knows the addresses of all device ports of the others", "[starting]") {
  large_group group{64, 1};
  auto plan = rc::plan(group.ranks, settings());
  plan.more_ports = {{.device = "soft0"}, {.device = "soft0"}};
  joined_group joined = join(group.view(), plan);
  joined.expected = false;
  REQUIRE(joined.ports.all.size() == 3);
  for (int r = 1; r < group.ranks; ++r) {
    CHECK(is_same(joined.ports.all[0].address_of(r), joined.ports.all[0].local().address));
    for (const std::size_t port : {std::size_t{1}, std::size_t{2}})
      CHECK(is_same(joined.ports.all[port].address_of(r), made_up_address(static_cast<std::uint64_t>(r))));
    const ibv_ah_attr path = joined.ports.all[1].path_to(r);
    CHECK(path.dlid == made_up_address(static_cast<std::uint64_t>(r)).lid);
  }
  for (const auto& port : joined.ports.all) CHECK(is_same(port.address_of(0), port.local().address));
}

TEST_CASE("the cards of a hundred thousand ranks are processed quickly", "[starting]") {
  // Pairwise comparison would take minutes.
  constexpr int ranks = 100'000;
  membership members{0, ranks, {}, "by hand", 7};
  const cpu_mask cores = first_cores(128);
  for (int r = 0; r < ranks; ++r) members.add({made_up(r, r / 100), cores}, made_up(0, 0));
  members.complete();
  CHECK(members.hosts() == ranks / 100);
  CHECK(!members.is_oversubscribed());
}

// Under `meson test` the allocator fills what it gives (MALLOC_PERTURB_): capacity counts, not size.
TEST_CASE("what a rank keeps of a stranger is some bytes", "[starting]") {
  if (support::instrumented) return;
  constexpr int ranks = 100'000;
  static_cast<void>(bytes_kept(ranks));
  const std::int64_t few = bytes_kept(1000);
  const std::int64_t many = bytes_kept(1000 + ranks);
  CAPTURE(few, many);
  REQUIRE(few > 0);
  CHECK(many - few < 16 * std::int64_t{ranks});
}

TEST_CASE("the cost of joining, by the number of ranks", "[.measure]") {
  fmt::print("| ranks | on a host | bytes of both rounds | ms in all | ms of the cards | KiB kept |\n");
  constexpr std::pair<int, int> layouts[]{{16, 1},   {256, 1},   {1024, 1},   {1024, 64},
                                          {4096, 1}, {4096, 64}, {65536, 64}, {128'000, 128}};
  for (const auto& [ranks, on_host] : layouts) {
    using clock = std::chrono::steady_clock;
    const auto ms = [](clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); };
    large_group group{ranks, on_host};
    const auto plan = rc::plan(ranks, settings());
    const auto start = clock::now();
    joining mine{group.view(), plan};
    const auto opened = clock::now() - start;
    clock::duration taking{};
    while (!mine.is_over()) {
      const auto cards = group.exchange(mine.message());
      const auto before = clock::now();
      mine.take(cards);
      taking += clock::now() - before;
    }
    auto joined = mine.finish();
    joined.expected = false;
    fmt::print("| {} | {} | {} | {:.2f} | {:.2f} | {} |\n", ranks, group.on_host, group.bytes,
               ms(opened + taking), ms(taking), bytes_kept(ranks, group.on_host) / 1024);
  }
}
