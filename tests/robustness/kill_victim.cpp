// The member that is killed, in the midst of whatever it does.
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
  }
  ~attacker() {
    for (ibv_qp* qp : qps_) soft().destroy_qp(qp);
    soft().detach_mcast(datagrams_, &group_, 0);
    soft().destroy_qp(datagrams_);
    soft().destroy_ah(all_);
    soft().destroy_ah(one_);
  }

  void meet_survivors() {
    for (std::size_t i = 0; i < 2; ++i) {
      targets_[i] = line_.receive<invitation>();
      qps_.push_back(make_qp(here_, IBV_QPT_RC));
      connect_rc(here_, qps_[i], targets_[i].qpn);
      for (int k = 0; k < 100; ++k) post_receive(qps_[i], i, {sge(in_, 0, message_bytes)});
      line_.send(address{qps_[i]->qp_num, in_.address(), in_.mr->rkey});
    }
    line_.receive<char>();
  }

  void strike() {
    std::array<ibv_wc, 16> done{};
    while (const int got = ibv_poll_cq(here_.send_cq, static_cast<int>(done.size()), done.data()))
      pending_ -= static_cast<unsigned>(got);
    while (ibv_poll_cq(here_.recv_cq, 1, done.data()) > 0)
      post_receive(qps_[done[0].wr_id], done[0].wr_id, {sge(in_, 0, message_bytes)});
    // What has not completed still reads its message.
    if (pending_ >= messages) return;
    ++pending_;
    const std::size_t i = generator_() % 2;
    const invitation& to = targets_[i];
    const auto bytes = 1 + generator_() % block_bytes;
    const auto place = to.memory + guard_bytes + generator_() % (block_bytes - bytes + 1);
    const std::size_t at = fill();
    switch (generator_() % 8) {
      case 0:
      case 1: {  // in several pieces
        const std::size_t cut = bytes / 3;
        post(qps_[i], IBV_WR_RDMA_WRITE,
             {sge(out_, 0, cut), sge(out_, cut, cut), sge(out_, 2 * cut, bytes - 2 * cut)}, IBV_SEND_SIGNALED,
             place, to.rkey);
        break;
      }
      case 2:
        post(qps_[i], IBV_WR_RDMA_READ, {sge(in_, 0, bytes)}, IBV_SEND_SIGNALED, place, to.rkey);
        break;
      case 3:
      case 4:
        post(qps_[i], IBV_WR_SEND, {sge(message_, at, 1000), sge(message_, at + 1000, message_bytes - 1000)},
             IBV_SEND_SIGNALED);
        break;
      case 5:
        post(qps_[i], IBV_WR_ATOMIC_FETCH_AND_ADD, {sge(in_, 0, 8)}, IBV_SEND_SIGNALED, to.word, to.word_key,
             survivors_share + 1);
        break;
      case 6:
        post_datagram(datagrams_, {sge(message_, at, message_bytes)}, IBV_SEND_SIGNALED, one_,
                      to.datagram_qpn, kill_qkey);
        break;
      default:
        post_datagram(datagrams_, {sge(message_, at, message_bytes)}, IBV_SEND_SIGNALED, all_, 0xffffff,
                      kill_qkey);
        break;
    }
  }

 private:
  /// Writes the next message, and gives its place.
  std::size_t fill() {
    const std::size_t at = next_++ % messages * message_bytes;
    const std::uint64_t number = generator_();
    for (std::size_t i = 8; i < message_bytes; ++i) message_.data[at + i] = message_byte(number, i);
    std::memcpy(message_.data + at, &number, 8);
    return at;
  }

  static constexpr std::size_t messages = 32;
  wire& line_;
  std::mt19937_64& generator_;
  node here_{1 << 12, true};
  memory out_{here_, block_bytes, false};
  memory in_{here_, block_bytes, generator_() % 2 == 0};
  memory message_{here_, messages* message_bytes, true};
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
  std::vector<ibv_qp*> qps_;
  std::array<invitation, 2> targets_{};
  std::size_t next_ = 0;
  unsigned pending_ = 0;
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
