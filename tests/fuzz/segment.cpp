// SPDX-License-Identifier: Apache-2.0
// A peer's segment, and what peers write into one's own, under the verbs that read it. The segment's owner is
// a separate process, which must survive as well. An initiator trusts the target's memory regions: forged
// ones would give it access to all of the target's private memory, as ptrace does. So the target has one
// private region here, and no other.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "../../lib/soft/objects.hpp"
#include "../verbs/soft_support.hpp"

using namespace soft_test;
namespace device = chorale::soft;

namespace {

void must(bool good) {
  if (!good) std::abort();
}

/// The one private region of the owner: begin and bytes.
constexpr std::size_t private_bytes = 65536;
std::uint64_t private_begin = 0;

bool beside_private(std::span<const iovec> ranges) {
  return !std::ranges::all_of(ranges, [](const iovec& r) {
    const std::uint64_t from = reinterpret_cast<std::uint64_t>(r.iov_base) - private_begin;
    return r.iov_len == 0 || (from < private_bytes && r.iov_len <= private_bytes - from);
  });
}

long copy_between(long call, pid_t pid, const iovec* here, unsigned long mine, const iovec* there,
                  unsigned long theirs, unsigned long flags) {
  if (!beside_private({there, theirs})) return syscall(call, pid, here, mine, there, theirs, flags);
  errno = EFAULT;
  return -1;
}

/// The objects of the owner of the mutated segment.
struct offer {
  std::uint32_t connected;
  std::uint32_t datagrams;
  std::array<std::uint64_t, 2> memory;  ///< shared, private
  std::array<std::uint32_t, 2> rkey;
};

/// Creates one object of each kind, and then only waits.
void own_a_segment(wire& line) {
  node n(64, true);
  const memory shared(n, 65536, true);
  const memory hidden(n, private_bytes, false);
  ibv_qp* qp = make_qp(n, IBV_QPT_RC, nullptr, 16);
  ibv_qp* ud = make_qp(n, IBV_QPT_UD, nullptr, 16);
  start_ud(ud);
  line.send(offer{
      qp->qp_num, ud->qp_num, {shared.address(), hidden.address()}, {shared.mr->rkey, hidden.mr->rkey}});
  connect_rc(n, qp, line.receive<std::uint32_t>());
  for (std::uint64_t i = 0; i < 8; ++i) {
    post_receive(qp, i, {sge(shared, i * 64, 64), sge(hidden, 128, 64)});
    post_receive(ud, i, {sge(shared, i * 512, 512)});
  }
  ibv_req_notify_cq(n.recv_cq, 0);
  line.send(char{1});
  for (;;) pause();
}

/// The two processes, and the parts of the segment as they were before any mutation.
class arena_of_war {
 public:
  arena_of_war() {
    offer_ = owner_.line().receive<offer>();
    private_begin = offer_.memory[1];
    a_ = make_qp(here_, IBV_QPT_RC, nullptr, 64);
    owner_.line().send(a_->qp_num);
    owner_.line().receive<char>();
    ud_ = make_qp(here_, IBV_QPT_UD, nullptr, 64);
    start_ud(ud_);
    one_ = make_ah(here_, true);
    ibv_ah_attr group{};
    group.is_global = 1;
    group.port_num = 1;
    group.grh.dgid.raw[0] = 0xff;
    all_ = soft().create_ah(here_.pd, &group);
    self_ = device::process::join();
    target_ = self_->find_peer(device::slot_of(offer_.connected));
    must(target_ != nullptr && all_ != nullptr);
    device::segment& s = *target_->base;
    keep(&s.qps[device::index_of(offer_.connected)], sizeof(device::qp_record));
    keep(&s.qps[device::index_of(offer_.datagrams)], sizeof(device::qp_record));
    for (const std::uint32_t key : offer_.rkey) keep(&s.mrs[key >> 16], sizeof(device::mr_record));
    keep(s.arena, 128 * 1024);
    keep(self_->fabric().multicast, 4 * sizeof(device::multicast_entry));
    keep(&self_->fabric().multicast_high, sizeof(std::uint32_t));
  }

  void mutate(unsigned kind, std::uint16_t where, std::uint64_t value) {
    device::segment& s = *target_->base;
    auto& connected = s.qps[device::index_of(offer_.connected)];
    auto& datagrams = s.qps[device::index_of(offer_.datagrams)];
    switch (kind % 8) {
      case 0:
        return set(&connected, 64, where, value);  // everything before the lock
      case 1:
        return set(&datagrams, 64, where, value);
      case 2:
      case 3:
        return set(&s.mrs[offer_.rkey[kind % 2] >> 16], sizeof(device::mr_record), where, value);
      case 4: {
        const auto place =
            (where & 0x8000U) != 0 ? connected.receive_queue.load() : datagrams.receive_queue.load();
        if (auto* queue = device::at<device::receive_queue_record>(s, place))
          set(&queue->ring, sizeof *queue - 8, where, value);
        return;
      }
      case 5:
        if (auto* cq = device::at<device::completion_queue_record>(s, connected.receive_cq.load()))
          set(&cq->ring, sizeof *cq - 8, where, value);
        return;
      case 6:
        return set(s.arena, 128 * 1024, where, value);
      default:
        self_->fabric().multicast_high.store(4);
        return set(self_->fabric().multicast, 4 * sizeof(device::multicast_entry), where, value);
    }
  }

  void act(unsigned kind, std::uint16_t where) {
    const unsigned which = kind & 1U;
    const std::uint64_t to = offer_.memory[which] + where / 2 * 8;
    const std::uint32_t key = offer_.rkey[which];
    const auto some = sge(mine_, where % 1000, where % 4096);
    const auto word = sge(mine_, 0, 8);
    switch (kind / 2 % 8) {
      case 0:
        post(a_, IBV_WR_RDMA_WRITE, {some}, IBV_SEND_SIGNALED, to, key);
        break;
      case 1:
        post(a_, IBV_WR_RDMA_READ, {some}, IBV_SEND_SIGNALED, to, key);
        break;
      case 2:
        post(a_, IBV_WR_SEND, {sge(mine_, 0, where % 160)}, IBV_SEND_SIGNALED);
        break;
      case 3:
        post(a_, IBV_WR_ATOMIC_FETCH_AND_ADD, {word}, IBV_SEND_SIGNALED, to, key, 1);
        break;
      case 4:
        post(a_, IBV_WR_RDMA_WRITE_WITH_IMM, {some}, IBV_SEND_SIGNALED, to, key);
        break;
      case 5:
        post_datagram(ud_, {sge(mine_, 0, where % 600)}, IBV_SEND_SIGNALED, one_, offer_.datagrams);
        break;
      case 6:
        post_datagram(ud_, {sge(mine_, 0, where % 600)}, IBV_SEND_SIGNALED, all_, 0xffffff);
        break;
      default:
        post(a_, IBV_WR_ATOMIC_CMP_AND_SWP, {word}, IBV_SEND_SIGNALED, to, key, 0, 1);
        break;
    }
    poll();
  }

  void begin() {
    connect_rc(here_, a_, offer_.connected);
    const ibv_qp_state state = state_of(ud_);
    if (state != IBV_QPS_RTS) {
      reset(ud_);
      start_ud(ud_);
    }
  }
  void end() {
    for (const saved& part : parts_) std::memcpy(part.place, part.bytes.data(), part.bytes.size());
    reset(a_);
    poll();
    // The owner lives, whatever was written into its segment.
    must(waitpid(owner_.pid(), nullptr, WNOHANG) == 0);
  }

 private:
  struct saved {
    unsigned char* place;
    std::vector<unsigned char> bytes;
  };
  void keep(void* place, std::size_t bytes) {
    auto* begin = static_cast<unsigned char*>(place);
    parts_.push_back({begin, {begin, begin + bytes}});
  }
  /// Writes a word of 8, 4 or 2 bytes: processes of one fabric can write anything, but only whole words.
  static void set(void* begin, std::size_t bytes, std::uint16_t where, std::uint64_t value) {
    const std::size_t width = std::size_t{8} >> (where >> 12 & 3U) % 3;
    const std::size_t place = std::size_t{where & 0xfffU} * 4 / width * width % bytes;
    if (place + width <= bytes) std::memcpy(static_cast<unsigned char*>(begin) + place, &value, width);
  }
  static void reset(ibv_qp* qp) {
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_RESET;
    must(soft().modify_qp(qp, &a, IBV_QP_STATE) == 0);
  }
  void poll() {
    std::array<ibv_wc, 8> done{};
    while (ibv_poll_cq(here_.send_cq, 8, done.data()) > 0) {
    }
    while (ibv_poll_cq(here_.recv_cq, 8, done.data()) > 0) {
    }
  }

  child owner_{own_a_segment};
  offer offer_{};
  node here_{1024};
  memory mine_{here_, 8192, true};
  ibv_qp* a_ = nullptr;
  ibv_qp* ud_ = nullptr;
  ibv_ah* one_ = nullptr;
  ibv_ah* all_ = nullptr;
  device::process* self_ = nullptr;
  device::peer* target_ = nullptr;
  std::vector<saved> parts_;
};

}  // namespace

extern "C" ssize_t process_vm_writev(pid_t pid, const iovec* here, unsigned long mine, const iovec* there,
                                     unsigned long theirs, unsigned long flags) {
  return copy_between(SYS_process_vm_writev, pid, here, mine, there, theirs, flags);
}
extern "C" ssize_t process_vm_readv(pid_t pid, const iovec* here, unsigned long mine, const iovec* there,
                                    unsigned long theirs, unsigned long flags) {
  return copy_between(SYS_process_vm_readv, pid, here, mine, there, theirs, flags);
}

/// The device stays open over all inputs and is not closed at the end.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static arena_of_war* const war = [] {
    setenv("CHORALE_SOFT_FABRIC", ("fuzz-" + std::to_string(getpid())).c_str(), 1);
    return new arena_of_war;
  }();
  war->begin();
  // Records of 11 bytes: what, where, value. The top bit of `what` makes it a request.
  for (; size >= 11; data += 11, size -= 11) {
    std::uint16_t where = 0;
    std::uint64_t value = 0;
    std::memcpy(&where, data + 1, 2);
    std::memcpy(&value, data + 3, 8);
    if ((data[0] & 0x80U) != 0)
      war->act(data[0] & 0x7fU, where);
    else
      war->mutate(data[0], where, value);
  }
  war->end();
  return 0;
}
