// Datagrams that no rank of the group would send: they change no memory, stop nobody, and are counted.
#include <array>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include <chorale/transport/ud_rdma.hpp>

#include "../../lib/transport/messages.hpp"
#include "../../lib/transport/reliable/packet.hpp"
#include "../support/windows.hpp"
#include "all_calls.hpp"
#include "ranks.hpp"

using namespace inprocess;
using namespace chorale::transport;
using emulated = chorale::communicator<ud_rdma>;

namespace {

std::uint32_t qkey_of(std::uint64_t job) {
  return static_cast<std::uint32_t>(job ^ (job >> 32)) & 0x7fffffffU;
}

/// A queue pair of nobody, on the device of `host`, that sends to `victim`.
class intruder {
 public:
  intruder(const ud_rdma& host, const ud_rdma& victim, std::uint32_t qkey)
      : device_(host.opened(), host.core().port().local()), port_(device_, {.payload_bytes = 4096}) {
    device_.add_peer(victim.core().port().local().address);
    port_.add_peer(victim.core().channel().port().number());
    port_.open(qkey);
  }
  void send(std::span<const std::byte> bytes) {
    while (!port_.send(0, {bytes})) chorale::clock::give_way();
    // Who floods the queue only causes losses, which are repaired.
    if (++sent_ % 16 == 0) chorale::clock::sleep_for(std::chrono::microseconds{200});
  }
  void drain() { port_.drain(std::chrono::seconds{5}); }

 private:
  device_port device_;
  datagram_port port_;
  int sent_ = 0;
};

/// A datagram as it lies on the wire.
std::vector<std::byte> datagram(std::uint64_t job, int source, std::uint16_t kind,
                                std::span<const std::byte> body, std::int64_t claimed = -1) {
  const datagram_header head{
      datagram_header::expected_magic,
      kind,
      0,
      job,
      source,
      static_cast<std::uint32_t>(claimed < 0 ? static_cast<std::int64_t>(body.size()) : claimed)};
  std::vector<std::byte> bytes(sizeof head + body.size());
  std::memcpy(bytes.data(), &head, sizeof head);
  if (!body.empty()) std::memcpy(bytes.data() + sizeof head, body.data(), body.size());
  return bytes;
}

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

constexpr auto packet_kind = static_cast<std::uint16_t>(reliable::stream_kind::packet);

/// Runs `intrude(net of rank 0, net of the last rank)` on a thread beside collectives of all ranks, which
/// must be right. Rank 0 exposes `window` meanwhile. Returns what rank 0 refused.
template <class Intrude>
std::uint64_t under_attack(std::span<std::byte> window, Intrude&& intrude) {
  constexpr int size = 3;
  std::atomic<ud_rdma*> victim{nullptr};
  std::atomic<std::uint64_t> refused{0};
  chorale::remote_region region;
  run_ranks<emulated>(size, settings(), [&](emulated& comm) {
    auto& net = comm.transport();
    {
      const auto exposed = net.expose(window);
      if (comm.rank() == 0) {
        region = exposed.region();
        victim = &net;
      }
      comm.barrier();
      check_moves(comm, 3000, seed());
      comm.barrier();
      std::thread attack;
      if (comm.rank() == size - 1) attack = std::thread{[&] { intrude(*victim.load(), net, region); }};
      for (std::size_t i = 0; i < 20; ++i) {
        check_moves(comm, 1 + i * 500, seed() + i);
        check_reductions(comm, 1 + i * 100, seed() + i);
      }
      if (attack.joinable()) attack.join();
      comm.barrier();
    }
    if (comm.rank() == 0) {
      // What was sent last may still wait in the queue.
      for (int i = 0; i < 100; ++i) net.look_around();
      refused = net.refused_datagrams();
    }
    comm.barrier();
  });
  return refused;
}

}  // namespace

TEST_CASE("noise with the group's queue key is refused and counted", "[intruders]") {
  if (left_out_in_virtual_time("a thread that is no rank attacks")) return;
  std::vector<std::byte> window(4096, std::byte{5});
  constexpr std::uint64_t datagrams = 500;
  const auto refused =
      under_attack(window, [](ud_rdma& victim, ud_rdma& host, const chorale::remote_region&) {
        intruder i{host, victim, qkey_of(host.job())};
        std::mt19937_64 chance{seed()};
        for (std::uint64_t n = 0; n < datagrams; ++n) {
          std::vector<std::byte> bytes(chance() % 4000);
          for (auto& b : bytes) b = static_cast<std::byte>(chance());
          i.send(bytes);
        }
        i.drain();
      });
  CHECK(refused > 0);
  CHECK(refused <= datagrams);
  for (const auto b : window) REQUIRE(b == std::byte{5});
}

TEST_CASE("a wrong queue key reaches nobody", "[intruders]") {
  if (left_out_in_virtual_time("a thread that is no rank attacks")) return;
  std::vector<std::byte> window(4096, std::byte{5});
  const auto refused =
      under_attack(window, [](ud_rdma& victim, ud_rdma& host, const chorale::remote_region& r) {
        intruder i{host, victim, qkey_of(host.job()) ^ 1U};
        const std::vector<std::byte> ones(100, std::byte{1});
        for (std::uint32_t n = 0; n < 200; ++n)
          i.send(datagram(host.job(), 1, packet_kind,
                          packet(reliable::first_sequence + n, reliable::packet_type::put,
                                 reliable::put_body{r.address, r.key, 0}, ones)));
        i.drain();
      });
  CHECK(refused == 0);
  for (const auto b : window) REQUIRE(b == std::byte{5});
}

TEST_CASE("a wrong secret is refused, whatever else is right", "[intruders]") {
  if (left_out_in_virtual_time("a thread that is no rank attacks")) return;
  std::vector<std::byte> window(4096, std::byte{5});
  const auto refused =
      under_attack(window, [](ud_rdma& victim, ud_rdma& host, const chorale::remote_region& r) {
        intruder i{host, victim, qkey_of(host.job())};
        const std::vector<std::byte> ones(100, std::byte{1});
        for (std::uint32_t n = 0; n < 200; ++n) {
          i.send(datagram(host.job() ^ (std::uint64_t{1} << n % 64), 1, packet_kind,
                          packet(reliable::first_sequence + n, reliable::packet_type::put,
                                 reliable::put_body{r.address, r.key, 0}, ones)));
        }
        i.drain();
      });
  CHECK(refused > 0);
  for (const auto b : window) REQUIRE(b == std::byte{5});
}

TEST_CASE("what is replayed, truncated or wrong in itself changes nothing", "[intruders]") {
  if (left_out_in_virtual_time("a thread that is no rank attacks")) return;
  std::vector<std::byte> window(4096, std::byte{5});
  const auto refused =
      under_attack(window, [](ud_rdma& victim, ud_rdma& host, const chorale::remote_region& r) {
        intruder i{host, victim, qkey_of(host.job())};
        const auto job = host.job();
        const std::vector<std::byte> ones(100, std::byte{1});
        // Writes with the right key under numbers of rank 1 that have been: as if they were sent once more.
        const auto old_put = packet(reliable::first_sequence, reliable::packet_type::put,
                                    reliable::put_body{r.address, r.key, 0}, ones);
        for (int n = 0; n < 50; ++n) i.send(datagram(job, 1, packet_kind, old_put));
        // Cut short at each length, and with a length that is not theirs.
        const auto whole = datagram(job, 1, packet_kind, old_put);
        for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) i.send(std::span{whole}.first(bytes));
        for (std::int64_t claimed = 0; claimed < 200; claimed += 7)
          i.send(datagram(job, 1, packet_kind, old_put, claimed));
        // Senders and kinds that there are not; the victim as its own sender.
        for (const int source : {-1, 3, 1000, 0}) i.send(datagram(job, source, packet_kind, old_put));
        for (const int kind : {0, 5, 15, 63, 79, 200, 65535})
          i.send(datagram(job, 1, static_cast<std::uint16_t>(kind), ones));
        // Types and flags that there are not, far beyond any window.
        for (int type = 0; type < 256; ++type) {
          reliable::packet_header head{};
          head.number = reliable::first_sequence + 0x40000000U;
          head.type = static_cast<std::uint8_t>(type);
          head.flags = static_cast<std::uint8_t>(type * 37);  // of all kinds
          i.send(datagram(job, 1, packet_kind, std::as_bytes(std::span{&head, 1})));
        }
        // Acknowledgements of what was never sent, and requests for it.
        for (std::uint32_t n = 0; n < 100; ++n) {
          reliable::report_body b{};
          b.acknowledged = reliable::first_sequence + 0x10000000U * n + 100000U;
          b.released = 0x7fffffffU - n;
          b.held = ~std::uint64_t{0};
          b.wanted = n % 4;
          i.send(datagram(job, 1, static_cast<std::uint16_t>(reliable::stream_kind::report),
                          std::as_bytes(std::span{&b, 1})));
        }
        i.drain();
      });
  CHECK(refused > 0);
  for (const auto b : window) REQUIRE(b == std::byte{5});
}
