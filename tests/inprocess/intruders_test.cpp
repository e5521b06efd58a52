// SPDX-License-Identifier: Apache-2.0
// Datagrams that no rank would send: they change no memory, stop no rank, and are counted.
#include <array>
#include <atomic>
#include <cstring>
#include <random>
#include <set>
#include <thread>

#include <chorale/transport/ud_rdma.hpp>

#include "../../lib/transport/reliable/packet.hpp"
#include "../support/windows.hpp"
#include "all_calls.hpp"
#include "intruder.hpp"
#include "ranks.hpp"

using namespace inprocess;
using namespace chorale::transport;
using emulated = chorale::communicator<ud_rdma>;
using region = chorale::remote_region;

namespace {

template <class Body>
std::vector<std::byte> packet(std::uint32_t number, reliable::packet_type type, const Body& body,
                              std::span<const std::byte> payload) {
  reliable::packet_header head{};
  head.number = number;
  head.type = static_cast<std::uint8_t>(type);
  std::vector<std::byte> bytes(sizeof head + sizeof body + payload.size());
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, &body, sizeof body);
  if (!payload.empty()) std::memcpy(bytes.data() + sizeof head + sizeof body, payload.data(), payload.size());
  return bytes;
}

/// Runs `intrude(victim, rank, region)` on a thread during collectives of all ranks, whose results must be
/// correct: `victim` is rank 0, which exposes memory as `region` meanwhile, and `rank` is the last one. That
/// memory must not change. Returns the number of datagrams that rank 0 refused.
template <class Intrude>
std::uint64_t under_attack(Intrude&& intrude) {
  std::vector<std::byte> window(4096, std::byte{5});
  constexpr int size = 3;
  std::atomic<ud_rdma*> victim{nullptr};
  std::atomic<std::uint64_t> refused{0};
  region exposed_region;
  run_ranks<emulated>(size, settings(), [&](emulated& comm) {
    auto& net = comm.transport();
    {
      const auto exposed = net.expose(window);
      if (comm.rank() == 0) {
        exposed_region = exposed.region();
        victim = &net;
      }
      comm.barrier();
      check_moves(comm, 3000, seed());
      comm.barrier();
      std::thread attack;
      if (comm.rank() == size - 1)
        attack = std::thread{[&] { intrude(victim.load()->core(), net.core(), exposed_region); }};
      for (std::size_t i = 0; i < 20; ++i) {
        check_moves(comm, 1 + i * 500, seed() + i);
        check_reductions(comm, 1 + i * 100, seed() + i);
      }
      if (attack.joinable()) attack.join();
      comm.barrier();
    }
    if (comm.rank() == 0) {
      // The last datagrams may still be in the queue.
      for (int i = 0; i < 100; ++i) net.progress_all();
      refused = net.refused_datagrams();
    }
    comm.barrier();
  });
  for (const auto b : window) REQUIRE(b == std::byte{5});
  return refused;
}

}  // namespace

TEST_CASE("noise with the group's queue key is refused and counted", "[intruders]") {
  if (left_out_in_virtual_time("a thread that is no rank attacks")) return;
  constexpr std::uint64_t datagrams = 500;
  const auto refused = under_attack([](endpoint& victim, endpoint& rank, const region&) {
    intruder i{rank};
    i.meet(victim);
    std::mt19937_64 chance{seed()};
    for (std::uint64_t n = 0; n < datagrams; ++n) {
      std::vector<std::byte> bytes(chance() % 4000);
      for (auto& b : bytes) b = static_cast<std::byte>(chance());
      i.send(0, bytes);
    }
    i.drain();
  });
  CHECK(refused > 0);
  CHECK(refused <= datagrams);
}

TEST_CASE("a wrong queue key reaches nobody", "[intruders]") {
  if (left_out_in_virtual_time("a thread that is no rank attacks")) return;
  const auto refused = under_attack([](endpoint& victim, endpoint& rank, const region& r) {
    intruder i{rank, 1};
    i.meet(victim);
    const std::vector<std::byte> ones(100, std::byte{1});
    for (std::uint32_t n = 0; n < 200; ++n)
      i.send(0, datagram(secret_of(rank), 2, packet_kind,
                         packet(first_sequence + n, reliable::packet_type::put,
                                reliable::put_body{r.address, r.key, 0}, ones)));
    i.drain();
  });
  CHECK(refused == 0);
}

TEST_CASE("a wrong secret is refused, whatever else is right", "[intruders]") {
  if (left_out_in_virtual_time("a thread that is no rank attacks")) return;
  const auto refused = under_attack([](endpoint& victim, endpoint& rank, const region& r) {
    intruder i{rank};
    i.meet(victim);
    const std::vector<std::byte> ones(100, std::byte{1});
    const auto put = [&](std::uint32_t n, std::uint64_t secret) {
      i.send_as_rank(0, datagram(secret, 2, packet_kind,
                                 packet(first_sequence + n, reliable::packet_type::put,
                                        reliable::put_body{r.address, r.key, 0}, ones)));
    };
    for (std::uint32_t n = 0; n < 200; ++n) put(n, secret_of(rank) ^ (std::uint64_t{1} << n % 64));
    // A reader of multicasts knows their secret, which differs from that of datagrams.
    for (std::uint32_t n = 0; n < 64; ++n) put(n, rank.members().numbers().multicast_secret);
  });
  CHECK(refused > 0);
}

TEST_CASE("replayed, truncated and inconsistent datagrams change nothing", "[intruders]") {
  if (left_out_in_virtual_time("a thread that is no rank attacks")) return;
  const auto refused = under_attack([](endpoint& victim, endpoint& rank, const region& r) {
    intruder i{rank};
    i.meet(victim);
    const auto secret = secret_of(rank);
    const int self = rank.rank();
    const std::vector<std::byte> ones(100, std::byte{1});
    // Writes with the right key under old numbers, as if retransmitted.
    const auto old_put =
        packet(first_sequence, reliable::packet_type::put, reliable::put_body{r.address, r.key, 0}, ones);
    for (int n = 0; n < 50; ++n) i.send_as_rank(0, datagram(secret, self, packet_kind, old_put));
    // Truncated at each length, and with a wrong length.
    const auto whole = datagram(secret, self, packet_kind, old_put);
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
      i.send_as_rank(0, std::span{whole}.first(bytes));
    for (std::int64_t claimed = 0; claimed < 200; claimed += 7)
      i.send_as_rank(0, datagram(secret, self, packet_kind, old_put, claimed));
    // Nonexistent senders and kinds; the victim as its own sender.
    for (const int source : {-1, 3, 1000, 0})
      i.send_as_rank(0, datagram(secret, source, packet_kind, old_put));
    for (const int kind : {0, 5, 15, 63, 79, 200, 65535})
      i.send_as_rank(0, datagram(secret, self, static_cast<std::uint16_t>(kind), ones));
    // Nonexistent types and flags, far beyond any window.
    for (int type = 0; type < 256; ++type) {
      reliable::packet_header head{};
      head.number = first_sequence + 0x40000000U;
      head.type = static_cast<std::uint8_t>(type);
      head.flags = static_cast<std::uint8_t>(type * 37);  // all combinations
      i.send_as_rank(0, datagram(secret, self, packet_kind, std::as_bytes(std::span{&head, 1})));
    }
    // Acknowledgements of packets that were never sent, and requests for them.
    for (std::uint32_t n = 0; n < 100; ++n) {
      reliable::report_body b{};
      b.acknowledged = first_sequence + 0x10000000U * n + 100000U;
      b.released = 0x7fffffffU - n;
      b.held = ~std::uint64_t{0};
      b.wanted = n % 4;
      i.send_as_rank(0, datagram(secret, self, static_cast<std::uint16_t>(reliable::stream_kind::report),
                                 std::as_bytes(std::span{&b, 1})));
    }
  });
  CHECK(refused > 0);
}

TEST_CASE("no number of a group reveals another", "[intruders]") {
  const std::array contributions{group_numbers::drawn(), group_numbers::drawn(), group_numbers::drawn()};
  const auto numbers_with = [&contributions](auto&& change) {
    membership members{0, 3, {}, "by hand", 7};
    for (int r = 0; r < 3; ++r) {
      rank_card card;
      card.numbers = contributions[static_cast<std::size_t>(r)];
      if (r == 1) change(card.numbers);
      members.add({card, {}}, rank_card{});
    }
    return members.numbers();
  };
  const group_numbers all = numbers_with([](group_numbers&) {});
  // A contribution changes only its own number.
  const auto changes_only = [&](auto group_numbers::*one) {
    group_numbers changed = numbers_with([one](group_numbers& n) { n.*one += 12345; });
    CHECK(changed.*one != all.*one);
    changed.*one = all.*one;
    CHECK(changed == all);
  };
  changes_only(&group_numbers::secret);
  changes_only(&group_numbers::multicast_secret);
  changes_only(&group_numbers::qkey);
  changes_only(&group_numbers::multicast_qkey);
  changes_only(&group_numbers::multicast_address);
  changes_only(&group_numbers::name);
  CHECK((all.qkey | all.multicast_qkey) >> 31 == 0);
  // All numbers drawn by a rank differ.
  const group_numbers drawn = group_numbers::drawn();
  const std::uint64_t words[]{drawn.secret, drawn.multicast_secret};
  std::set<std::uint32_t> halves{drawn.qkey, drawn.multicast_qkey, drawn.multicast_address, drawn.name};
  for (const std::uint64_t word : words) {
    halves.insert(static_cast<std::uint32_t>(word));
    halves.insert(static_cast<std::uint32_t>(word >> 32));
  }
  CHECK(halves.size() == 8);
}
