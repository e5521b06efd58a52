// SPDX-License-Identifier: Apache-2.0
// Data between two processes, on each of the three copy paths.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <sched.h>
#include <span>

#include <catch2/catch.hpp>

#include "soft_support.hpp"

using namespace soft_test;

namespace {

struct path {
  const char* name;
  const char* mode;
  bool shared;
};

/// Opens a device, a QP and memory in both processes, connects them, and runs `active` against a passive
/// side.
template <class Active, class Passive>
std::string rc_pair(const path& p, Active active, Passive passive) {
  const auto side = [&](auto body) {
    return [&p, body](wire& line) {
      setenv("CHORALE_SOFT_COPY", p.mode, 1);
      node n;
      ibv_qp* qp = make_qp(n, IBV_QPT_RC);
      {
        memory m(n, 1 << 20, p.shared);
        line.send(address{qp->qp_num, m.address(), m.mr->rkey});
        const auto other = line.receive<address>();
        connect_rc(n, qp, other.qpn);
        line.meet();
        body(line, n, qp, m, other);
        line.meet();
      }
      soft().destroy_qp(qp);
    };
  };
  return run_pair(side(active), side(passive));
}

/// Pins the process to a core of its own, if there are two: a writer and a reader that alternate on one core
/// never overlap.
void stay_on_core(int which) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
  for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || seen++ != which) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

const path paths[] = {{"shared mapping", "auto", true},
                      {"process_vm", "vm", true},
                      {"process_vm, private memory", "auto", false},
                      {"bounce", "bounce", false}};

}  // namespace

TEST_CASE("RC moves data between processes on each copy path", "[soft]") {
  const path p = GENERATE(from_range(std::begin(paths), std::end(paths)));
  INFO(p.name);
  const auto report = rc_pair(
      p,
      [](wire& line, node& n, ibv_qp* qp, memory& m, const address& other) {
        // Written in pieces of odd sizes at odd offsets; the passive side computes the expected bytes itself.
        for (std::size_t i = 0; i < 300'000; ++i) m.data[i] = static_cast<unsigned char>(i * 7 + 3);
        expect(post(qp, IBV_WR_RDMA_WRITE, {sge(m, 0, 100'001), sge(m, 100'001, 0), sge(m, 100'001, 199'999)},
                    IBV_SEND_SIGNALED, other.memory + 5, other.rkey) == 0,
               "write");
        auto wc = wait(n.send_cq);
        expect(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RDMA_WRITE && wc.wr_id == 1000,
               "write completes");
        line.meet();
        std::memset(m.data, 0, m.bytes);
        expect(post(qp, IBV_WR_RDMA_READ, {sge(m, 1, 150'000), sge(m, 200'000, 150'000)}, IBV_SEND_SIGNALED,
                    other.memory + 5, other.rkey) == 0,
               "read");
        wc = wait(n.send_cq);
        expect(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RDMA_READ, "read completes");
        for (std::size_t i = 0; i < 300'000; ++i) {
          const std::size_t at = i < 150'000 ? 1 + i : 200'000 + i - 150'000;
          expect(m.data[at] == static_cast<unsigned char>(i * 7 + 3), "read data at " + std::to_string(i));
        }
        // Messages.
        const char text[] = "inline from the stack";
        expect(post(qp, IBV_WR_SEND, {{reinterpret_cast<std::uint64_t>(text), sizeof text, 0}},
                    IBV_SEND_SIGNALED | IBV_SEND_INLINE) == 0,
               "send");
        expect(wait(n.send_cq).opcode == IBV_WC_SEND, "send completes");
        std::memset(m.data, 'x', 70'000);
        expect(post(qp, IBV_WR_SEND_WITH_IMM, {sge(m, 0, 70'000)}, IBV_SEND_SIGNALED, 0, 0, 0xabcd) == 0,
               "send imm");
        expect(wait(n.send_cq).status == IBV_WC_SUCCESS, "send with immediate completes");
        expect(post(qp, IBV_WR_RDMA_WRITE_WITH_IMM, {sge(m, 0, 9)}, IBV_SEND_SIGNALED, other.memory + 995'000,
                    other.rkey, 0x1234) == 0,
               "write with immediate");
        expect(wait(n.send_cq).opcode == IBV_WC_RDMA_WRITE, "write with immediate completes");
        // Atomics.
        line.meet();
        for (int i = 0; i < 500; ++i) {
          expect(post(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, {sge(m, 0, 8)}, IBV_SEND_SIGNALED,
                      other.memory + 990'000, other.rkey, 3) == 0,
                 "fetch and add");
          wc = wait(n.send_cq);
          std::uint64_t old = 0;
          std::memcpy(&old, m.data, 8);
          expect(
              wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_FETCH_ADD && old == 41U + 3U * unsigned(i),
              "old value of fetch and add");
        }
        for (const std::uint64_t compare : {7ULL, 1541ULL}) {
          expect(post(qp, IBV_WR_ATOMIC_CMP_AND_SWP, {sge(m, 8, 8)}, IBV_SEND_SIGNALED,
                      other.memory + 990'000, other.rkey, compare, 99) == 0,
                 "compare and swap");
          expect(wait(n.send_cq).opcode == IBV_WC_COMP_SWAP, "compare and swap completes");
          std::uint64_t old = 0;
          std::memcpy(&old, m.data + 8, 8);
          expect(old == 1541, "old value of compare and swap");
        }
        line.meet();
      },
      [](wire& line, node& n, ibv_qp* qp, memory& m, const address&) {
        for (std::uint64_t id = 1; id <= 3; ++id)
          expect(post_receive(qp, id,
                              {sge(m, 400'000 + 10 * id, 3), sge(m, 400'000 + 100'000 * id, 80'000)}) == 0,
                 "post receive");
        line.meet();
        expect(silent(n.recv_cq, 0), "an RDMA write tells the target nothing");
        for (std::size_t i = 0; i < 300'000; ++i)
          expect(m.data[5 + i] == static_cast<unsigned char>(i * 7 + 3),
                 "written data at " + std::to_string(i));
        expect(m.data[4] == 0 && m.data[300'005] == 0, "nothing beside");
        auto wc = wait(n.recv_cq);
        expect(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV && wc.wr_id == 1 &&
                   wc.byte_len == 22 && wc.qp_num == qp->qp_num && wc.wc_flags == 0,
               "first message");
        expect(std::memcmp(m.data + 400'010, "inl", 3) == 0 &&
                   std::memcmp(m.data + 500'000, "ine from the stack", 19) == 0,
               "first message's text");
        wc = wait(n.recv_cq);
        expect(
            wc.wr_id == 2 && wc.byte_len == 70'000 && wc.wc_flags == IBV_WC_WITH_IMM && wc.imm_data == 0xabcd,
            "second message");
        expect(m.data[600'000 + 69'996] == 'x', "second message's end");
        wc = wait(n.recv_cq);
        expect(wc.wr_id == 3 && wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.byte_len == 9 &&
                   wc.imm_data == 0x1234,
               "write with immediate");
        expect(m.data[995'008] == 'x' && m.data[995'009] == 0, "its data");
        const std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(m.data + 990'000));
        word.store(41);
        line.meet();
        line.meet();
        expect(silent(n.recv_cq, 0), "nor does an atomic");
        expect(word.load() == 99, "result of the atomics");
      });
  CHECK(report == "");
}

namespace {

/// Polls only memory, as programs do; reports the state of the queue pair if nothing arrives for long.
template <class HasCome>
void poll_until(node& n, ibv_qp* qp, std::uint64_t round, HasCome&& has_come) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{40};
  for (int spins = 0; !has_come(); ++spins) {
    if (spins % 1000 != 999) continue;
    sched_yield();
    if (std::chrono::steady_clock::now() < end) continue;
    ibv_wc wc{};
    const int found = ibv_poll_cq(n.send_cq, 1, &wc);
    expect(false, "round " + std::to_string(round) + " does not come; state " + std::to_string(state_of(qp)) +
                      ", completions " + std::to_string(found) + ", status " + std::to_string(wc.status));
  }
}

}  // namespace

TEST_CASE("A poller of the last word sees all bytes before it", "[soft]") {
  const path p = GENERATE(from_range(std::begin(paths), std::next(std::begin(paths), 2)));
  const auto size = GENERATE(as<std::size_t>{}, 8, 16, 24, 64, 256, 1000, 1024, 4096, 65536);
  INFO(p.name << ", " << size << " bytes");
  const std::uint64_t rounds = size > 4096 ? 1000 : 4000;
  // Where other programs use the cores, a round takes milliseconds: then there are fewer rounds.
  constexpr auto patience = std::chrono::seconds{2};
  constexpr std::uint64_t last_round = 1ULL << 63;
  const auto report = rc_pair(
      p,
      [=](wire&, node& n, ibv_qp* qp, memory& m, const address& other) {
        stay_on_core(0);
        const std::atomic_ref<std::uint64_t> answer(*reinterpret_cast<std::uint64_t*>(m.data));
        std::uint64_t round = 0;
        const std::span<std::uint64_t> data(reinterpret_cast<std::uint64_t*>(m.data + (1 << 19)), size / 8);
        const auto end = std::chrono::steady_clock::now() + patience;
        for (bool last_one = false; !last_one;) {
          ++round;
          last_one = round == rounds || std::chrono::steady_clock::now() > end;
          std::fill(data.begin(), data.end(), last_one ? round | last_round : round);
          const unsigned flags = (size > 4096 ? 0U : unsigned{IBV_SEND_INLINE}) |
                                 (round % 100 == 0 ? unsigned{IBV_SEND_SIGNALED} : 0U);
          expect(post(qp, IBV_WR_RDMA_WRITE, {sge(m, 1 << 19, size)}, flags, other.memory + 4096,
                      other.rkey) == 0,
                 "write");
          if (round % 100 == 0) wait(n.send_cq);
          poll_until(n, qp, round, [&] { return answer.load(std::memory_order_acquire) == round; });
        }
      },
      [=](wire&, node& n, ibv_qp* qp, memory& m, const address& other) {
        stay_on_core(1);
        auto* words = reinterpret_cast<std::uint64_t*>(m.data + 4096);
        std::uint64_t torn = 0;
        std::uint64_t seen = 0;
        for (std::uint64_t round = 1; (seen & last_round) == 0; ++round) {
          const std::atomic_ref<std::uint64_t> last(words[size / 8 - 1]);
          poll_until(n, qp, round, [&] {
            seen = last.load(std::memory_order_acquire);
            return (seen & ~last_round) == round;
          });
          // Backwards: a forward reader would stay behind the writer, and never catch it.
          for (std::size_t i = size / 8; i-- > 0;) torn += words[i] != seen;
          expect(post(qp, IBV_WR_RDMA_WRITE, {{reinterpret_cast<std::uint64_t>(&round), 8, 0}},
                      unsigned{IBV_SEND_INLINE} | (round % 100 == 0 ? unsigned{IBV_SEND_SIGNALED} : 0U),
                      other.memory, other.rkey) == 0,
                 "answer");
          if (round % 100 == 0) wait(n.send_cq);
        }
        expect(torn == 0, std::to_string(torn) + " torn words");
      });
  CHECK(report == "");
}
