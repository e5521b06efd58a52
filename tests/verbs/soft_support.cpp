// SPDX-License-Identifier: Apache-2.0
#include "soft_support.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

namespace soft_test {
namespace {

using clock = std::chrono::steady_clock;

}  // namespace

node::node(int cqe, bool with_channel) {
  int count = 0;
  ibv_device** list = soft().get_device_list(&count);
  expect(list != nullptr && count == 1, "get_device_list");
  context = soft().open_device(list[0]);
  soft().free_device_list(list);
  expect(context != nullptr, "open_device");
  pd = soft().alloc_pd(context);
  if (with_channel) channel = soft().create_comp_channel(context);
  send_cq = soft().create_cq(context, cqe, nullptr, nullptr, 0);
  recv_cq = soft().create_cq(context, cqe, this, channel, 0);
  expect(pd != nullptr && send_cq != nullptr && recv_cq != nullptr, "alloc_pd, create_cq");
  ibv_port_attr port{};
  expect(soft().query_port(context, 1, &port) == 0 && soft().query_gid(context, 1, 0, &gid) == 0,
         "query_port, gid");
  lid = port.lid;
}

node::~node() {
  soft().destroy_cq(send_cq);
  soft().destroy_cq(recv_cq);
  if (channel != nullptr) soft().destroy_comp_channel(channel);
  soft().dealloc_pd(pd);
  if (soft().close_device(context) != 0) std::fprintf(stderr, "close_device: objects are left\n");
}

memory::memory(node& n, std::size_t size, bool in_shared, int access)
    : owner(&n), bytes(size), shared(in_shared) {
  data = static_cast<unsigned char*>(shared ? soft().allocate(n.context, size)
                                            : std::aligned_alloc(4096, (size + 4095) / 4096 * 4096));
  expect(data != nullptr, "allocate");
  std::memset(data, 0, size);
  mr = soft().reg_mr(n.pd, data, size, access);
  expect(mr != nullptr, "reg_mr");
}

memory::~memory() {
  soft().dereg_mr(mr);
  if (shared)
    soft().release(owner->context, data, bytes);
  else
    std::free(data);
}

ibv_qp* make_qp(node& n, ibv_qp_type type, ibv_srq* srq, std::uint32_t depth, bool signal_all) {
  ibv_qp_init_attr a{};
  a.send_cq = n.send_cq;
  a.recv_cq = n.recv_cq;
  a.srq = srq;
  a.cap = {depth, depth, 16, 16, 4096};
  a.qp_type = type;
  a.sq_sig_all = signal_all ? 1 : 0;
  ibv_qp* qp = soft().create_qp(n.pd, &a);
  expect(qp != nullptr, "create_qp");
  return qp;
}

void connect_rc(node& n, ibv_qp* qp, std::uint32_t remote_qpn, const rc_options& o) {
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_INIT;
  a.port_num = 1;
  a.pkey_index = o.pkey_index;
  a.qp_access_flags = static_cast<unsigned>(o.access);
  expect(soft().modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0,
         "modify to INIT");
  a.qp_state = IBV_QPS_RTR;
  a.path_mtu = IBV_MTU_4096;
  a.dest_qp_num = remote_qpn;
  a.max_dest_rd_atomic = static_cast<std::uint8_t>(o.read_depth);
  a.min_rnr_timer = static_cast<std::uint8_t>(o.rnr_timer);
  a.ah_attr.dlid = n.lid;
  a.ah_attr.port_num = 1;
  if (o.way) a.ah_attr = *o.way;
  expect(soft().modify_qp(qp, &a,
                          IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                              IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
         "modify to RTR");
  a.qp_state = IBV_QPS_RTS;
  a.timeout = static_cast<std::uint8_t>(o.timeout);
  a.retry_cnt = static_cast<std::uint8_t>(o.retry);
  a.rnr_retry = static_cast<std::uint8_t>(o.rnr_retry);
  a.max_rd_atomic = static_cast<std::uint8_t>(o.read_depth);
  expect(soft().modify_qp(qp, &a,
                          IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                              IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0,
         "modify to RTS");
}

void start_ud(ibv_qp* qp, std::uint32_t qkey, std::uint16_t pkey_index) {
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_INIT;
  a.port_num = 1;
  a.pkey_index = pkey_index;
  a.qkey = qkey;
  expect(soft().modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0,
         "UD INIT");
  a.qp_state = IBV_QPS_RTR;
  expect(soft().modify_qp(qp, &a, IBV_QP_STATE) == 0, "UD RTR");
  a.qp_state = IBV_QPS_RTS;
  expect(soft().modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0, "UD RTS");
}

ibv_ah* make_ah(node& n, bool global) {
  ibv_ah_attr a{};
  a.port_num = 1;
  a.dlid = n.lid;
  a.sl = 5;
  if (global) {
    a.is_global = 1;
    a.grh.dgid = n.gid;
    a.grh.hop_limit = 64;
  }
  ibv_ah* ah = soft().create_ah(n.pd, &a);
  expect(ah != nullptr, "create_ah");
  return ah;
}

int post(ibv_qp* qp, ibv_wr_opcode opcode, const std::vector<ibv_sge>& list, unsigned flags,
         std::uint64_t remote, std::uint32_t rkey, std::uint64_t first, std::uint64_t second) {
  ibv_send_wr wr{};
  ibv_send_wr* bad = nullptr;
  wr.wr_id = 1000 + static_cast<unsigned>(opcode);
  wr.sg_list = const_cast<ibv_sge*>(list.data());
  wr.num_sge = static_cast<int>(list.size());
  wr.opcode = opcode;
  wr.send_flags = flags;
  if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    wr.wr.atomic.remote_addr = remote;
    wr.wr.atomic.rkey = rkey;
    wr.wr.atomic.compare_add = first;
    wr.wr.atomic.swap = second;
  } else {
    wr.imm_data = static_cast<std::uint32_t>(first);
    wr.wr.rdma.remote_addr = remote;
    wr.wr.rdma.rkey = rkey;
  }
  return ibv_post_send(qp, &wr, &bad);
}

int post_datagram(ibv_qp* qp, const std::vector<ibv_sge>& list, unsigned flags, ibv_ah* ah, std::uint32_t qpn,
                  std::uint32_t qkey) {
  ibv_send_wr wr{};
  ibv_send_wr* bad = nullptr;
  wr.wr_id = 77;
  wr.sg_list = const_cast<ibv_sge*>(list.data());
  wr.num_sge = static_cast<int>(list.size());
  wr.opcode = IBV_WR_SEND_WITH_IMM;
  wr.imm_data = 0x55aa;
  wr.send_flags = flags;
  wr.wr.ud.ah = ah;
  wr.wr.ud.remote_qpn = qpn;
  wr.wr.ud.remote_qkey = qkey;
  return ibv_post_send(qp, &wr, &bad);
}

namespace {
ibv_recv_wr receive_of(std::uint64_t id, const std::vector<ibv_sge>& list) {
  ibv_recv_wr wr{};
  wr.wr_id = id;
  wr.sg_list = const_cast<ibv_sge*>(list.data());
  wr.num_sge = static_cast<int>(list.size());
  return wr;
}
}  // namespace

int post_receive(ibv_qp* qp, std::uint64_t id, const std::vector<ibv_sge>& list) {
  ibv_recv_wr wr = receive_of(id, list);
  ibv_recv_wr* bad = nullptr;
  return ibv_post_recv(qp, &wr, &bad);
}

int post_receive(ibv_srq* srq, std::uint64_t id, const std::vector<ibv_sge>& list) {
  ibv_recv_wr wr = receive_of(id, list);
  ibv_recv_wr* bad = nullptr;
  return ibv_post_srq_recv(srq, &wr, &bad);
}

ibv_sge sge(const memory& m, std::size_t offset, std::size_t bytes) {
  return {m.address() + offset, static_cast<std::uint32_t>(bytes), m.mr->lkey};
}

ibv_wc wait(ibv_cq* cq, double seconds) {
  const auto end = clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    ibv_wc wc{};
    const int got = ibv_poll_cq(cq, 1, &wc);
    if (got == 1) return wc;
    expect(got == 0, "poll_cq fails");
    expect(clock::now() < end, "no completion comes");
    sched_yield();
  }
}

bool silent(ibv_cq* cq, double seconds) {
  const auto end = clock::now() + std::chrono::duration<double>(seconds);
  ibv_wc wc{};
  for (;;) {
    if (ibv_poll_cq(cq, 1, &wc) != 0) return false;
    if (clock::now() >= end) return true;
    usleep(500);
  }
}

ibv_qp_state state_of(ibv_qp* qp) {
  ibv_qp_attr a{};
  ibv_qp_init_attr init{};
  expect(soft().query_qp(qp, &a, IBV_QP_STATE, &init) == 0, "query_qp");
  return a.qp_state;
}

child::child(const child_main& f) {
  int ends[2];
  expect(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
  std::fflush(nullptr);
  const pid_t pid = fork();
  expect(pid >= 0, "fork");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    int status = 0;
    try {
      wire line(ends[1]);
      f(line);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "child %d: %s\n", static_cast<int>(getpid()), e.what());
      status = 1;
    }
    std::fflush(nullptr);
    // Sanitizers report leaks and races in their exit handlers.
    std::exit(status);
  }
  close(ends[1]);
  started(pid, ends[0]);
}

std::string run_pair(const child_main& left, const child_main& right, int deadline_s) {
  // Connects the wires of the two children through the parent, which only waits.
  int ends[2];
  expect(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
  const auto on = [&](const child_main& f, int fd, int other) {
    return [&f, fd, other](wire&) {
      close(other);
      wire line(fd);
      f(line);
    };
  };
  child a(on(left, ends[0], ends[1]));
  child b(on(right, ends[1], ends[0]));
  close(ends[0]);
  close(ends[1]);
  const std::string first = a.join(deadline_s);
  const std::string second = b.join(deadline_s);
  return first.empty() ? (second.empty() ? "" : "right: " + second) : "left: " + first + "; right: " + second;
}

}  // namespace soft_test
