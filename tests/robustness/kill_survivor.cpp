// SPDX-License-Identifier: Apache-2.0
// A surviving member: its traffic with the other survivor stays correct, and the victim's death is an error.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <unistd.h>

#include "kill_loop.hpp"

using namespace soft_test;

namespace robustness {
namespace {

constexpr std::size_t datagram_slot = 40 + message_bytes;
constexpr std::uint64_t datagram_slots = 64;
constexpr std::uint64_t receive_slots = 32;
constexpr std::uint64_t of_victim = 1'000'000;  ///< added to the id of receives for the victim's messages
constexpr double patience_s = 20;

/// The objects for one victim.
struct visit {
  visit(node& here, bool shared)
      : target(here, block_bytes + 2 * guard_bytes, shared),
        messages(here, receive_slots * message_bytes, shared),
        out(here, message_bytes, true),
        qp(make_qp(here, IBV_QPT_RC)) {
    std::memset(target.data, 0x5a, target.bytes);
  }
  ~visit() { soft().destroy_qp(qp); }
  void post(std::uint64_t i) {
    post_receive(qp, of_victim + i, {sge(messages, i * message_bytes, message_bytes)});
  }
  void check_guards() const {
    const auto intact = [](unsigned char byte) { return byte == 0x5a; };
    const unsigned char* end = target.data + target.bytes;
    expect(std::all_of(target.data, target.data + guard_bytes, intact) &&
               std::all_of(end - guard_bytes, end, intact),
           "memory around the block");
  }
  memory target;
  memory messages;
  memory out;
  ibv_qp* qp;
  bool connected = false;
  unsigned pending = 0;
  bool failed = false;
  address victim{};
};

class survivor {
 public:
  survivor(wire& line, std::uint64_t seed, int number)
      : line_(line), generator_(seed + static_cast<unsigned>(number)), number_(number) {
    start_ud(datagrams_, kill_qkey);
    expect(soft().attach_mcast(datagrams_, &group_, 0) == 0, "attach");
    for (std::uint64_t i = 0; i < datagram_slots; ++i) post_datagram_receive(i);
    line_.send(invitation{twin_->qp_num, datagrams_->qp_num, counted_.mr->rkey, 0, counted_.address(), 0});
  }
  ~survivor() {
    visit_.reset();
    soft().detach_mcast(datagrams_, &group_, 0);
    soft().destroy_qp(datagrams_);
    soft().destroy_qp(twin_);
  }

  bool serve() {
    const auto o = line_.receive<order>();
    report r{};
    r.good = true;
    try {
      switch (o.what) {
        case command::pair:
          connect_rc(here_, twin_, o.to.qpn);
          other_ = o.to;
          break;
        case command::begin:
          visit_.emplace(here_, o.shared);
          line_.send(invitation{visit_->qp->qp_num, datagrams_->qp_num, visit_->target.mr->rkey,
                                counted_.mr->rkey, visit_->target.address(), counted_.address()});
          break;
        case command::connect:
          connect(o.to);
          break;
        case command::dead:
          bury();
          break;
        case command::quit:
          finish();
          break;
      }
    } catch (const std::exception& e) {
      r.good = false;
      std::snprintf(r.text, sizeof r.text, "survivor %d: %s", number_, e.what());
    }
    r.descriptors = descriptors(getpid());
    r.anonymous_kib = status_number(getpid(), "RssAnon");
    r.received = received_;
    r.completed = completed_;
    r.lost = lost_;
    if (o.what != command::begin || !r.good) line_.send(r);
    if (o.what != command::quit || !r.good) return r.good;
    line_.receive<char>();  // the other survivor may still be writing here
    return false;
  }

  /// Between orders: traffic with both.
  void work() {
    talk_to_twin();
    if (visit_ && visit_->connected && !visit_->failed) disturb_victim();
    drain();
  }

 private:
  void connect(const address& to) {
    rc_options o;
    o.timeout = 10;
    o.retry = 2;
    visit_->victim = to;
    connect_rc(here_, visit_->qp, to.qpn, o);
    for (std::uint64_t i = 0; i < receive_slots; ++i) visit_->post(i);
    visit_->connected = true;
  }

  /// Writes to the other survivor, reads back, and adds to the word shared by both and the victim.
  void talk_to_twin() {
    if (other_.qpn == 0) return;
    const std::size_t bytes = 1 + generator_() % block_bytes;
    const std::uint64_t number = generator_();
    for (std::size_t i = 0; i < bytes; ++i) mine_.data[i] = message_byte(number, i);
    const auto place = other_.memory + 64 + static_cast<unsigned>(number_) * block_bytes;
    expect(post(twin_, IBV_WR_RDMA_WRITE, {sge(mine_, 0, bytes)}, IBV_SEND_SIGNALED, place, other_.rkey) == 0,
           "post");
    expect(post(twin_, IBV_WR_RDMA_READ, {sge(back_, 0, bytes)}, IBV_SEND_SIGNALED, place, other_.rkey) == 0,
           "post");
    expect(post(twin_, IBV_WR_ATOMIC_FETCH_AND_ADD, {sge(back_, block_bytes, 8)}, IBV_SEND_SIGNALED,
                other_.memory, other_.rkey, 1) == 0,
           "post");
    std::uint64_t old = 0;
    twin_pending_ += 3;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience_s);
    while (twin_pending_ != 0) {
      drain();
      expect(std::chrono::steady_clock::now() < end, "the other survivor's traffic hangs");
    }
    std::memcpy(&old, back_.data + block_bytes, 8);
    expect((old & survivors_share) == added_++, "the word that both add to");
    expect(std::memcmp(mine_.data, back_.data, bytes) == 0, "data of the other survivor");
  }

  void disturb_victim() {
    if (visit_->pending > 8) return;
    const bool send = generator_() % 2 == 0;
    const auto bytes = 1 + generator_() % message_bytes;
    const int status = send ? post(visit_->qp, IBV_WR_SEND, {sge(visit_->out, 0, bytes)}, IBV_SEND_SIGNALED)
                            : post(visit_->qp, IBV_WR_RDMA_WRITE, {sge(visit_->out, 0, bytes)},
                                   IBV_SEND_SIGNALED, visit_->victim.memory + 4096, visit_->victim.rkey);
    expect(status == 0, "post to the victim");
    ++visit_->pending;
  }

  void drain() {
    ibv_wc wc{};
    for (int got = 0; (got = ibv_poll_cq(here_.send_cq, 1, &wc)) != 0;) {
      expect(got == 1, "poll of sends");
      if (wc.qp_num == twin_->qp_num) {
        expect(wc.status == IBV_WC_SUCCESS, "traffic of survivors fails with " + std::to_string(wc.status));
        --twin_pending_;
        continue;
      }
      expect(visit_ && wc.qp_num == visit_->qp->qp_num && visit_->pending > 0, "a completion of nobody");
      --visit_->pending;
      if (wc.status == IBV_WC_SUCCESS) {
        expect(!visit_->failed, "success after an error");
        ++completed_;
        continue;
      }
      const auto right = visit_->failed ? IBV_WC_WR_FLUSH_ERR : IBV_WC_RETRY_EXC_ERR;
      expect(wc.status == right, "the victim's end shows as status " + std::to_string(wc.status));
      visit_->failed = true;
    }
    for (int got = 0; (got = ibv_poll_cq(here_.recv_cq, 1, &wc)) != 0;) {
      expect(got == 1, "poll of receives");
      if (wc.qp_num == datagrams_->qp_num) {
        expect(wc.status == IBV_WC_SUCCESS && wc.byte_len == datagram_slot, "a datagram");
        check_message(datagram_memory_.data + wc.wr_id * datagram_slot + 40);
        post_datagram_receive(wc.wr_id);
      } else {
        expect(visit_ && wc.qp_num == visit_->qp->qp_num && wc.wr_id >= of_victim, "a receive of nobody");
        if (wc.status == IBV_WC_WR_FLUSH_ERR) continue;
        expect(wc.status == IBV_WC_SUCCESS && wc.byte_len == message_bytes, "a message");
        check_message(visit_->messages.data + (wc.wr_id - of_victim) * message_bytes);
        visit_->post(wc.wr_id - of_victim);
      }
    }
  }

  void check_message(const unsigned char* data) {
    std::uint64_t number = 0;
    std::memcpy(&number, data, 8);
    for (std::size_t i = 8; i < message_bytes; ++i)
      expect(data[i] == message_byte(number, i), "bytes of a message");
    ++received_;
  }

  /// The victim is dead: requests to it must fail; destroys the objects for it.
  void bury() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience_s);
    while (visit_->connected && (!visit_->failed || visit_->pending != 0)) {
      if (!visit_->failed) disturb_victim();
      drain();
      expect(std::chrono::steady_clock::now() < end, "no error comes");
      usleep(100);
    }
    if (visit_->connected) expect(state_of(visit_->qp) == IBV_QPS_ERR, "the queue pair is in ERR");
    visit_->check_guards();
    drain();
    visit_.reset();
    for (int i = 0; i < 3; ++i) talk_to_twin();
  }

  /// Receives still posted for datagrams complete as flushed, except those that a victim had taken.
  void finish() {
    drain();
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_ERR;
    expect(soft().modify_qp(datagrams_, &a, IBV_QP_STATE) == 0, "modify to ERR");
    lost_ = static_cast<long>(datagram_slots);
    for (ibv_wc wc{}; ibv_poll_cq(here_.recv_cq, 1, &wc) == 1;) --lost_;
  }

  void post_datagram_receive(std::uint64_t i) {
    post_receive(datagrams_, i, {sge(datagram_memory_, i * datagram_slot, datagram_slot)});
  }

  wire& line_;
  std::mt19937_64 generator_;
  int number_;
  node here_{1 << 14};
  memory counted_{here_, 64 + 2 * block_bytes, false};
  memory mine_{here_, block_bytes, true};
  memory back_{here_, block_bytes + 8, false};
  memory datagram_memory_{here_, datagram_slots* datagram_slot, true};
  ibv_qp* twin_ = make_qp(here_, IBV_QPT_RC);
  ibv_qp* datagrams_ = make_qp(here_, IBV_QPT_UD);
  ibv_gid group_ = [] {
    ibv_gid g{};
    g.raw[0] = 0xff;
    g.raw[15] = 42;
    return g;
  }();
  address other_{};
  std::uint64_t added_ = 0;
  unsigned twin_pending_ = 0;
  std::optional<visit> visit_;
  long received_ = 0;
  long completed_ = 0;
  long lost_ = 0;
};

}  // namespace

void survive(wire& line, std::uint64_t seed, int number) {
  survivor one(line, seed, number);
  do {
    while (!line.readable()) one.work();
  } while (one.serve());
}

}  // namespace robustness
