// Datagrams that no rank would send, or that a rank sends in the name of another: they change no memory, stop
// nobody, and are counted. Whatever a rank says in its own name, the others get right results or an error.
#include <array>
#include <atomic>
#include <climits>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>

#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/rc_send_receive.hpp>
#include <chorale/transport/ud.hpp>
#include <chorale/transport/ud_rdma.hpp>

#include "../../lib/transport/membership.hpp"
#include "../../lib/transport/messages.hpp"
#include "../../lib/transport/multicast/multicast_messages.hpp"
#include "../../lib/transport/reliable/packet.hpp"
#include "../support/windows.hpp"
#include "all_calls.hpp"
#include "policies.hpp"
#include "ranks.hpp"

using namespace inprocess;
using namespace chorale::transport;
using emulated = chorale::communicator<ud_rdma>;
using region = chorale::remote_region;

namespace {

std::uint64_t secret_of(const endpoint& rank) {
  return rank.members().numbers().secret;
}
std::uint32_t qkey_of(const endpoint& rank) {
  return rank.members().numbers().qkey;
}

/// Sends by hand to the datagram ports of a group whose secret and keys it knows: through a queue pair that the
/// ranks do not know, or through its own rank's.
class intruder {
 public:
  /// `qkey_error`: in what it sends through the queue pair of its own.
  explicit intruder(endpoint& self, std::uint32_t qkey_error = 0)
      : self_(self),
        device_(self.port().opened(), self.port().local()),
        port_(device_, {.payload_bytes = self.channel().port().payload_bytes()}) {
    port_.open(qkey_of(self) ^ qkey_error);
  }
  /// Learns the queue pair of the next rank, from rank 0.
  void meet(const endpoint& rank) {
    device_.add_peer(rank.port().local().address);
    port_.add_peer(rank.channel().port().number());
  }
  /// As somebody who is no rank.
  void send(int to, std::span<const std::byte> bytes) {
    while (!port_.send(to, {bytes})) chorale::clock::give_way();
    pause();
  }
  /// As its rank, on whose thread it runs, or which has a service thread.
  void send_as_rank(int to, std::span<const std::byte> bytes) {
    datagram_port& port = self_.channel().port();
    const auto is_sent = [&] {
      const std::lock_guard hold{self_.channel().lock()};
      return port.send(to, {bytes});
    };
    while (!is_sent()) {
      chorale::clock::give_way();
      self_.channel().look_after_sends();
    }
    pause();
  }
  [[nodiscard]] std::uint64_t secret() const { return secret_of(self_); }
  void drain() { port_.drain(std::chrono::seconds{5}); }

 private:
  /// Who floods the queue only causes losses, which are repaired.
  void pause() {
    if (++sent_ % 16 == 0) chorale::clock::sleep_for(std::chrono::microseconds{200});
  }

  endpoint& self_;
  device_port device_;
  datagram_port port_;
  int sent_ = 0;
};

/// A datagram as it lies on the wire.
std::vector<std::byte> datagram(std::uint64_t secret, int source, std::uint16_t kind,
                                std::span<const std::byte> body, std::int64_t claimed = -1) {
  const datagram_header head{
      datagram_header::expected_magic,
      kind,
      0,
      secret,
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

/// Runs `intrude(victim, rank, region)` on a thread beside collectives of all ranks, which must be right: the
/// victim is rank 0, which exposes `window` meanwhile, as `region`, and the rank is the last. Returns what rank
/// 0 refused.
template <class Intrude>
std::uint64_t under_attack(std::span<std::byte> window, Intrude&& intrude) {
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
  const auto refused = under_attack(window, [](endpoint& victim, endpoint& rank, const region&) {
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
  for (const auto b : window) REQUIRE(b == std::byte{5});
}

TEST_CASE("a wrong queue key reaches nobody", "[intruders]") {
  if (left_out_in_virtual_time("a thread that is no rank attacks")) return;
  std::vector<std::byte> window(4096, std::byte{5});
  const auto refused = under_attack(window, [](endpoint& victim, endpoint& rank, const region& r) {
    intruder i{rank, 1};
    i.meet(victim);
    const std::vector<std::byte> ones(100, std::byte{1});
    for (std::uint32_t n = 0; n < 200; ++n)
      i.send(0, datagram(secret_of(rank), 2, packet_kind,
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
  const auto refused = under_attack(window, [](endpoint& victim, endpoint& rank, const region& r) {
    intruder i{rank};
    i.meet(victim);
    const std::vector<std::byte> ones(100, std::byte{1});
    const auto put = [&](std::uint32_t n, std::uint64_t secret) {
      i.send_as_rank(0, datagram(secret, 2, packet_kind,
                                 packet(reliable::first_sequence + n, reliable::packet_type::put,
                                        reliable::put_body{r.address, r.key, 0}, ones)));
    };
    for (std::uint32_t n = 0; n < 200; ++n) put(n, secret_of(rank) ^ (std::uint64_t{1} << n % 64));
    // Who reads multicasts has their secret, and this is another.
    for (std::uint32_t n = 0; n < 64; ++n) put(n, rank.members().numbers().multicast_secret);
  });
  CHECK(refused > 0);
  for (const auto b : window) REQUIRE(b == std::byte{5});
}

TEST_CASE("what is replayed, truncated or wrong in itself changes nothing", "[intruders]") {
  if (left_out_in_virtual_time("a thread that is no rank attacks")) return;
  std::vector<std::byte> window(4096, std::byte{5});
  const auto refused = under_attack(window, [](endpoint& victim, endpoint& rank, const region& r) {
    intruder i{rank};
    i.meet(victim);
    const auto secret = secret_of(rank);
    const int self = rank.rank();
    const std::vector<std::byte> ones(100, std::byte{1});
    // Writes with the right key under numbers that have been: as if they were sent once more.
    const auto old_put = packet(reliable::first_sequence, reliable::packet_type::put,
                                reliable::put_body{r.address, r.key, 0}, ones);
    for (int n = 0; n < 50; ++n) i.send_as_rank(0, datagram(secret, self, packet_kind, old_put));
    // Cut short at each length, and with a length that is not theirs.
    const auto whole = datagram(secret, self, packet_kind, old_put);
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
      i.send_as_rank(0, std::span{whole}.first(bytes));
    for (std::int64_t claimed = 0; claimed < 200; claimed += 7)
      i.send_as_rank(0, datagram(secret, self, packet_kind, old_put, claimed));
    // Senders and kinds that there are not; the victim as its own sender.
    for (const int source : {-1, 3, 1000, 0})
      i.send_as_rank(0, datagram(secret, source, packet_kind, old_put));
    for (const int kind : {0, 5, 15, 63, 79, 200, 65535})
      i.send_as_rank(0, datagram(secret, self, static_cast<std::uint16_t>(kind), ones));
    // Types and flags that there are not, far beyond any window.
    for (int type = 0; type < 256; ++type) {
      reliable::packet_header head{};
      head.number = reliable::first_sequence + 0x40000000U;
      head.type = static_cast<std::uint8_t>(type);
      head.flags = static_cast<std::uint8_t>(type * 37);  // of all kinds
      i.send_as_rank(0, datagram(secret, self, packet_kind, std::as_bytes(std::span{&head, 1})));
    }
    // Acknowledgements of what was never sent, and requests for it.
    for (std::uint32_t n = 0; n < 100; ++n) {
      reliable::report_body b{};
      b.acknowledged = reliable::first_sequence + 0x10000000U * n + 100000U;
      b.released = 0x7fffffffU - n;
      b.held = ~std::uint64_t{0};
      b.wanted = n % 4;
      i.send_as_rank(0, datagram(secret, self, static_cast<std::uint16_t>(reliable::stream_kind::report),
                                 std::as_bytes(std::span{&b, 1})));
    }
  });
  CHECK(refused > 0);
  for (const auto b : window) REQUIRE(b == std::byte{5});
}

namespace {

using bytes = std::vector<std::byte>;

/// Bodies of datagrams: words that mean something where they stand, and words that mean nothing.
class bodies {
 public:
  explicit bodies(std::uint64_t from) : chance_(from) {}

  std::uint64_t below(std::uint64_t bound) { return chance_() % bound; }
  bytes of(std::uint16_t kind, std::size_t room) {
    if (kind == raw(datagram_kind::notice) && below(2) == 0) return notice();
    constexpr std::size_t usual[]{0,
                                  4,
                                  8,
                                  12,
                                  16,
                                  sizeof(reliable::packet_header),
                                  sizeof(reliable::report_body),
                                  40,
                                  44,
                                  64,
                                  88,
                                  sizeof(farewell),
                                  sizeof(status_answer)};
    bytes body(below(3) == 0 ? below(room + 1) : std::min(room, usual[below(std::size(usual))]));
    for (std::size_t at = 0; at < body.size(); at += sizeof(std::uint32_t)) {
      const std::uint32_t w = word();
      std::memcpy(body.data() + at, &w, std::min(sizeof w, body.size() - at));
    }
    // A packet in order would be what the rank has to say in the call, wrong as it may be.
    if (kind == packet_kind && body.size() >= sizeof(std::uint32_t)) {
      const auto number =
          reliable::first_sequence + 0x40000000U + static_cast<std::uint32_t>(below(0x40000000));
      std::memcpy(body.data(), &number, sizeof number);
    }
    return body;
  }

 private:
  std::uint32_t word() {
    constexpr std::uint32_t usual[]{
        0, 1, 2, 3, 4, 0x7fffffff, 0x80000000, 0xffffffff, first_multicast, reliable::first_sequence};
    return below(2) == 0 ? usual[below(std::size(usual))] : static_cast<std::uint32_t>(chance_());
  }
  bytes notice() {
    failure_notice n{};
    constexpr std::int32_t codes[]{0, -195, 1, 13, 14, INT_MIN, INT_MAX};
    n.code = codes[below(std::size(codes))];
    n.rank_count = static_cast<std::int32_t>(word());
    for (auto& rank : n.ranks) rank = static_cast<std::int32_t>(word());
    n.bytes = word();
    for (char& c : n.text) c = static_cast<char>(chance_());
    const auto whole =
        wire(n).first(failure_notice::bytes_without_text + below(failure_notice::text_bytes + 1));
    return {whole.begin(), whole.end()};
  }

  std::mt19937_64 chance_;
};

constexpr int ranks = 4;
/// Knows the secret, as every rank does, and lets the others suffer for it.
constexpr int malicious = ranks - 1;

template <class Comm>
void check_calls(Comm& comm, std::size_t count, std::uint64_t seed) {
  check_moves(comm, count, seed);
  check_reductions(comm, count, seed);
  comm.barrier();
}

/// Runs calls on all ranks. Between its calls the malicious one sends what `attack(intruder, bodies)` sends.
/// The results of the others must be right, unless `may_fail`: then calls may fail too, with an error that
/// there is. Calls among the others alone are right in any case.
template <class Comm, class Attack>
void beside_malice(bool may_fail, int rounds, Attack&& attack) {
  std::array<std::atomic<endpoint*>, ranks> all{};
  support::gate all_have_theirs{ranks};
  std::atomic<std::uint64_t> refused{0};
  run_ranks<Comm>(ranks, settings(), [&](Comm& comm) {
    endpoint& self = comm.transport().core();
    const bool is_malicious = comm.rank() == malicious;
    all[static_cast<std::size_t>(comm.rank())] = &self;
    const auto others = comm.split(is_malicious ? chorale::undefined_color : 0);
    intruder by_hand{self};
    bodies words{seed() + static_cast<std::uint64_t>(rounds)};
    all_have_theirs.arrive_and_wait();
    for (auto& one : all) by_hand.meet(*one.load());
    bool is_failed = false;
    for (int round = 0; round < rounds; ++round) {
      const auto s = seed() + static_cast<std::uint64_t>(round);
      const auto count = static_cast<std::size_t>(1 + round * 300);
      if (is_malicious) attack(by_hand, words);
      try {
        if (!is_failed) check_calls(comm, count, s);
      } catch (const chorale::error& e) {
        is_failed = true;
        expect(may_fail, e.what());
        expect(e.code().message() != chorale::category().message(0),
               "a code that there is not: " + std::string{e.what()});
      } catch (const std::exception&) {
        // What the malicious rank itself gets, nobody has promised.
        if (!is_malicious) throw;
      }
      if (others) check_calls(*others, count, s);
    }
    if (is_malicious) by_hand.drain();
    refused += comm.transport().refused_datagrams();
  });
  INFO("seed " << seed());
  if (!may_fail) CHECK(refused > 0);
}

std::uint16_t any_kind(bodies& words) {
  return static_cast<std::uint16_t>(words.below(50) == 0 ? words.below(65536)
                                                         : words.below(control_channel::kinds));
}

}  // namespace

TEMPLATE_TEST_CASE("a rank speaks for no other, whatever it knows", "[intruders]", standard<rc>,
                   standard<rc_send_receive>, standard<ud>, standard<ud_rdma>, standard<hybrid<1>>) {
  beside_malice<TestType>(false, 8, [](intruder& by_hand, bodies& words) {
    for (int i = 0; i < 48; ++i) {
      const int victim = static_cast<int>(words.below(malicious));
      const int source = static_cast<int>(words.below(malicious));
      const std::uint16_t kind = any_kind(words);
      const bytes body = words.of(kind, 400);
      const bytes whole = datagram(by_hand.secret(), source, kind, body);
      // In the name of another, and from a queue pair of its own making also in its own.
      if (i % 2 == 0)
        by_hand.send_as_rank(victim, whole);
      else
        by_hand.send(victim, i % 4 == 1 ? whole : datagram(by_hand.secret(), malicious, kind, body));
    }
  });
}

TEMPLATE_TEST_CASE("whatever a rank says, the others get right results or an error", "[intruders]",
                   standard<rc>, standard<rc_send_receive>, standard<ud>, standard<ud_rdma>,
                   standard<hybrid<1>>) {
  struct family {
    std::uint64_t first;
    std::uint64_t last;
  };
  for (const family of : {family{0, 4}, {16, 63}, {64, 67}, {80, 85}, {0, 127}}) {
    INFO("kinds " << of.first << " to " << of.last);
    beside_malice<TestType>(true, 4, [&](intruder& by_hand, bodies& words) {
      for (int i = 0; i < 48; ++i) {
        const auto kind = static_cast<std::uint16_t>(of.first + words.below(of.last - of.first + 1));
        by_hand.send_as_rank(static_cast<int>(words.below(malicious)),
                             datagram(by_hand.secret(), malicious, kind, words.of(kind, 400)));
      }
    });
  }
}
