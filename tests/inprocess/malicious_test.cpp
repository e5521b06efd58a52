// SPDX-License-Identifier: Apache-2.0
// A malicious rank, which knows the secret of its group like every rank: it cannot impersonate another rank,
// and whatever it sends besides its data, the others get correct results or an error.
#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstring>
#include <exception>
#include <random>
#include <type_traits>

#include <chorale/core/clock.hpp>
#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/rc_send_receive.hpp>
#include <chorale/transport/ud.hpp>
#include <chorale/transport/ud_rdma.hpp>

#include "../../lib/transport/multicast/multicast_messages.hpp"
#include "../../lib/transport/reliable/packet.hpp"
#include "all_calls.hpp"
#include "intruder.hpp"
#include "policies.hpp"
#include "ranks.hpp"

using namespace inprocess;
using namespace chorale::transport;

namespace {

using bytes = std::vector<std::byte>;

/// Bodies of datagrams: plausible words, and random words.
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
    // Packets and messages in order, and signals of future calls, would count as the rank's own data, right
    // or wrong: these are not sent here.
    const auto begin_with = [&body](auto value) {
      if (body.size() >= sizeof value) std::memcpy(body.data(), &value, sizeof value);
    };
    if (kind == packet_kind || kind == raw(multicast_kind::message))
      begin_with(first_sequence + 0x40000000U + static_cast<std::uint32_t>(below(0x40000000)));
    if (kind == static_cast<std::uint16_t>(reliable::stream_kind::signal) ||
        kind == raw(multicast_kind::signal))
      begin_with(below(2) << 16 | below(65536));
    return body;
  }

 private:
  std::uint32_t word() {
    constexpr std::uint32_t usual[]{
        0, 1, 2, 3, 4, 0x7fffffff, 0x80000000, 0xffffffff, first_multicast, first_sequence};
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
/// The malicious rank.
constexpr int malicious = ranks - 1;

template <class Comm>
void check_calls(Comm& comm, std::size_t count, std::uint64_t seed) {
  check_moves(comm, count, seed);
  check_reductions(comm, count, seed);
  comm.barrier();
}

/// Runs calls on all ranks. Between its calls the malicious rank runs `attack(intruder, bodies)`. The results
/// of the others must be correct, unless `may_fail`: then calls may also fail, with a known error. Calls
/// among the others alone must be correct in any case.
template <class Comm, class Attack>
void beside_malice(bool may_fail, int rounds, Attack&& attack) {
  std::array<std::atomic<endpoint*>, ranks> all{};
  support::gate all_have_theirs{ranks};
  // A rank may wait for the malicious one until the deadline, and the others as long for that rank.
  support::gate others_are_done{malicious};
  auto c = settings();
  if (may_fail) c.deadline = std::chrono::seconds{instrumented ? 30 : 10};
  std::atomic<std::uint64_t> refused{0};
  run_ranks<Comm>(ranks, c, [&](Comm& comm) {
    endpoint& self = comm.transport().core();
    const bool is_malicious = comm.rank() == malicious;
    all[static_cast<std::size_t>(comm.rank())] = &self;
    auto others = comm.split(is_malicious ? chorale::undefined_color : 0);
    intruder by_hand{self};
    bodies words{seed() + static_cast<std::uint64_t>(rounds)};
    all_have_theirs.arrive_and_wait();
    for (auto& one : all) by_hand.meet(*one.load());
    bool is_failed = false;
    std::exception_ptr wrong;
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
        // The malicious rank's own results are not guaranteed. The others synchronize again.
        if (!is_malicious) wrong = std::current_exception();
        is_failed = true;
      }
      if (!others) continue;
      others_are_done.arrive_and_wait();
      check_calls(*others, count, s);
    }
    if (is_malicious) by_hand.drain();
    if (wrong) std::rethrow_exception(wrong);
    // Over rc only the service thread reads datagrams, at its own pace.
    constexpr int naps = 300;
    for (int i = 0; i < naps && !may_fail && !is_malicious && comm.transport().refused_datagrams() == 0; ++i)
      chorale::clock::sleep_for(std::chrono::milliseconds{10});
    refused += comm.transport().refused_datagrams();
  });
  INFO("seed " << seed());
  if (!may_fail) CHECK(refused > 0);
}

template <class Comm>
constexpr bool is_multicasting = std::is_same_v<Comm, multicasting<rc>>;

/// Mostly an existing kind.
std::uint16_t any_kind(bodies& words) {
  constexpr std::uint16_t usual[]{1, 2, 3, 4, 16, 17, 18, 19, 64, 65, 66, 67, 80, 81, 82, 83, 84, 85};
  if (words.below(4) != 0) return usual[words.below(std::size(usual))];
  return static_cast<std::uint16_t>(words.below(words.below(8) == 0 ? 65536 : control_channel::kinds));
}

}  // namespace

TEMPLATE_TEST_CASE("a rank speaks for no other, whatever it knows", "[intruders]", standard<rc>,
                   standard<rc_send_receive>, standard<ud>, standard<ud_rdma>, standard<hybrid<1>>,
                   multicasting<rc>) {
  beside_malice<TestType>(false, 8, [](intruder& by_hand, bodies& words) {
    for (int i = 0; i < 48; ++i) {
      const int victim = static_cast<int>(words.below(malicious));
      const int source = static_cast<int>(words.below(malicious));
      const std::uint16_t kind = any_kind(words);
      const bytes body = words.of(kind, 400);
      const std::uint64_t secret = secret_of(by_hand.self());
      const bytes whole = datagram(secret, source, kind, body);
      // In the name of another rank; and, from an additional queue pair, also in its own name.
      if (i % 2 == 0)
        by_hand.send_as_rank(victim, whole);
      else
        by_hand.send(victim, i % 4 == 1 ? whole : datagram(secret, malicious, kind, body));
      if (is_multicasting<TestType> && i % 3 == 0) {
        const bool as_rank = i % 2 == 0;
        by_hand.multicast(datagram(multicast_secret_of(by_hand.self()), as_rank ? source : malicious,
                                   static_cast<std::uint16_t>(80 + words.below(2)), body),
                          as_rank);
      }
    }
  });
}

TEMPLATE_TEST_CASE("whatever a rank says besides its data, the others get right results or an error",
                   "[intruders]", standard<rc>, standard<rc_send_receive>, standard<ud>, standard<ud_rdma>,
                   standard<hybrid<1>>, multicasting<rc>) {
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
                             datagram(secret_of(by_hand.self()), malicious, kind, words.of(kind, 400)));
        if (is_multicasting<TestType> && i % 3 == 0)
          by_hand.multicast(
              datagram(multicast_secret_of(by_hand.self()), malicious, kind, words.of(kind, 400)), true);
      }
    });
  }
}
