// SPDX-License-Identifier: Apache-2.0
// The member that is killed, at an arbitrary point.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "kill_loop.hpp"

using namespace soft_test;

namespace robustness {
namespace {

/// One life between open and close: all kinds of requests to both survivors.
class attacker {
 public:
  attacker(wire& line, std::mt19937_64& generator) : line_(line), generator_(generator) {
    expect(soft().attach_mcast(datagrams_, &group_, 0) == 0, "attach");
    ibv_ah_attr a{};
    a.is_global = 1;
    a.grh.dgid = group_;
    a.port_num = 1;
    all_ = soft().create_ah(here_.pd, &a);
    one_ = make_ah(here_, false);
    expect(all_ != nullptr, "create_ah");
    for (std::size_t i = 0; i < out_.bytes; ++i) out_.data[i] = message_byte(0, i);
    senders_.push_back(std::make_unique<sender>(here_, datagrams_));
  }
  ~attacker() {
    soft().detach_mcast(datagrams_, &group_, 0);
    for (const auto& each : senders_) soft().destroy_qp(each->qp);
    soft().destroy_ah(all_);
    soft().destroy_ah(one_);
  }

  void meet_survivors() {
    for (std::size_t i = 0; i < 2; ++i) {
      targets_[i] = line_.receive<invitation>();
      ibv_qp* qp = make_qp(here_, IBV_QPT_RC);
      senders_.push_back(std::make_unique<sender>(here_, qp));
      connect_rc(here_, qp, targets_[i].qpn);
      for (int k = 0; k < 100; ++k) post_receive(qp, i, {sge(in_, 0, message_bytes)});
      line_.send(address{qp->qp_num, in_.address(), in_.mr->rkey});
    }
    line_.receive<char>();
  }

  void strike() {
    note_completions();
    const std::size_t i = generator_() % 2;
    const auto kind = generator_() % 8;
    sender& from = *senders_[kind < 6 ? 1 + i : 0];
    if (!from.is_free()) return;
    const invitation& to = targets_[i];
    const auto bytes = 1 + generator_() % block_bytes;
    const auto place = to.memory + guard_bytes + generator_() % (block_bytes - bytes + 1);
    switch (kind) {
      case 0:
      case 1: {  // in several pieces
        const std::size_t cut = bytes / 3;
        from.post(IBV_WR_RDMA_WRITE,
                  {sge(out_, 0, cut), sge(out_, cut, cut), sge(out_, 2 * cut, bytes - 2 * cut)}, place,
                  to.rkey);
        break;
      }
      case 2:
        from.post(IBV_WR_RDMA_READ, {sge(in_, 0, bytes)}, place, to.rkey);
        break;
      case 3:
      case 4: {
        const std::size_t at = from.fill(generator_());
        from.post(IBV_WR_SEND,
                  {sge(from.messages, at, 1000), sge(from.messages, at + 1000, message_bytes - 1000)});
        break;
      }
      case 5:
        from.post(IBV_WR_ATOMIC_FETCH_AND_ADD, {sge(in_, 0, 8)}, to.word, to.word_key, survivors_share + 1);
        break;
      case 6:
        from.post_datagram(generator_(), one_, to.datagram_qpn);
        break;
      default:
        from.post_datagram(generator_(), all_, 0xffffff);
        break;
    }
  }

 private:
  /// A queue pair with its own message buffers. A request takes the next buffer, whether it is sent or not,
  /// and keeps it until completion. Requests of one queue pair complete in order, but independently of other
  /// queue pairs, so that a common pool would have to track its free buffers.
  struct sender {
    sender(node& here, ibv_qp* its) : qp(its), messages(here, count * message_bytes, true) {}
    bool is_free() const { return posted - completed < count; }
    /// Writes the message of the next request, and returns its buffer.
    std::size_t fill(std::uint64_t number) const {
      const std::size_t at = posted % count * message_bytes;
      for (std::size_t i = 8; i < message_bytes; ++i) messages.data[at + i] = message_byte(number, i);
      std::memcpy(messages.data + at, &number, 8);
      return at;
    }
    void post(ibv_wr_opcode opcode, const std::vector<ibv_sge>& list, std::uint64_t place = 0,
              std::uint32_t rkey = 0, std::uint64_t operand = 0) {
      expect(soft_test::post(qp, opcode, list, IBV_SEND_SIGNALED, place, rkey, operand) == 0,
             "post of the victim");
      ++posted;
    }
    void post_datagram(std::uint64_t number, ibv_ah* to, std::uint32_t qpn) {
      const std::size_t at = fill(number);
      expect(soft_test::post_datagram(qp, {sge(messages, at, message_bytes)}, IBV_SEND_SIGNALED, to, qpn,
                                      kill_qkey) == 0,
             "post of the victim");
      ++posted;
    }
    static constexpr std::size_t count = 32;
    ibv_qp* qp;
    memory messages;
    std::size_t posted = 0;
    std::size_t completed = 0;
  };

  void note_completions() {
    std::array<ibv_wc, 16> done{};
    while (const int got = ibv_poll_cq(here_.send_cq, static_cast<int>(done.size()), done.data())) {
      expect(got > 0, "poll of the victim's sends");
      for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i) {
        const auto of = std::find_if(senders_.begin(), senders_.end(),
                                     [&](const auto& each) { return each->qp->qp_num == done[i].qp_num; });
        expect(of != senders_.end() && (*of)->completed < (*of)->posted, "a completion of nobody's request");
        ++(*of)->completed;
      }
    }
    while (ibv_poll_cq(here_.recv_cq, 1, done.data()) > 0)
      post_receive(senders_[1 + done[0].wr_id]->qp, done[0].wr_id, {sge(in_, 0, message_bytes)});
  }

  wire& line_;
  std::mt19937_64& generator_;
  node here_{1 << 12, true};
  memory out_{here_, block_bytes, false};
  memory in_{here_, block_bytes, generator_() % 2 == 0};
  ibv_qp* datagrams_ = [this] {
    ibv_qp* qp = make_qp(here_, IBV_QPT_UD);
    start_ud(qp, kill_qkey);
    return qp;
  }();
  ibv_gid group_ = [] {
    ibv_gid g{};
    g.raw[0] = 0xff;
    g.raw[15] = 42;
    return g;
  }();
  ibv_ah* all_ = nullptr;
  ibv_ah* one_ = nullptr;
  std::vector<std::unique_ptr<sender>> senders_;  ///< for datagrams to each survivor
  std::array<invitation, 2> targets_{};
};

}  // namespace

unsigned char message_byte(std::uint64_t number, std::size_t i) noexcept {
  return static_cast<unsigned char>((number >> (i % 8 * 8)) + i * 13 + i / 251);
}

void attack(wire& line, std::uint64_t seed, bool churns) {
  std::mt19937_64 generator{seed};
  while (churns) attacker{line, generator};
  attacker one{line, generator};
  one.meet_survivors();
  for (;;) one.strike();
}

}  // namespace robustness
