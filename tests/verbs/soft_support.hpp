// SPDX-License-Identifier: Apache-2.0
// Helpers for the software device's tests: child processes, verbs objects.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <chorale/verbs/driver.hpp>

#include "../support/other_process.hpp"

namespace soft_test {

inline const chorale::verbs::driver& soft() {
  return *chorale::verbs::soft();
}

using support::wire;

/// Throws if the condition is false, for child processes: Catch2's assertions belong to the parent.
inline void expect(bool good, const std::string& what) {
  support::expect_of_system(good, what);
}

using child_main = std::function<void(wire&)>;

/// Runs each function in a process. Returns an empty string, or what went wrong (an exception, a signal, the
/// deadline).
std::string run_pair(const child_main& left, const child_main& right, int deadline_s = 60);

/// A forked child that runs `f(wire)`.
class child : public support::child_process {
 public:
  explicit child(const child_main& f);
};

/// A device with the objects that most tests need. Closes all in order.
class node {
 public:
  explicit node(int cqe = 4096, bool with_channel = false);
  ~node();
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  ibv_context* context;
  ibv_pd* pd;
  ibv_comp_channel* channel = nullptr;
  ibv_cq* send_cq;
  ibv_cq* recv_cq;
  std::uint16_t lid;
  ibv_gid gid;
};

struct memory {
  memory(node& n, std::size_t bytes, bool shared, int access = all_rights);
  ~memory();
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;
  static constexpr int all_rights =
      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(data); }
  node* owner;
  std::size_t bytes;
  bool shared;
  unsigned char* data;
  ibv_mr* mr;
};

/// The data that the sides exchange.
struct address {
  std::uint32_t qpn;
  std::uint64_t memory;
  std::uint32_t rkey;
};

ibv_qp* make_qp(node& n, ibv_qp_type type, ibv_srq* srq = nullptr, std::uint32_t depth = 256,
                bool signal_all = false);

struct rc_options {
  int access = memory::all_rights;
  int timeout = 14;
  int retry = 7;
  int rnr_retry = 7;
  int rnr_timer = 1;
  int read_depth = 16;
  std::uint16_t pkey_index = 0;
  std::optional<ibv_ah_attr> way{};  ///< to a port other than the node's own
};
void connect_rc(node& n, ibv_qp* qp, std::uint32_t remote_qpn, const rc_options& o = {});
void start_ud(ibv_qp* qp, std::uint32_t qkey = 0x1234, std::uint16_t pkey_index = 0);
ibv_ah* make_ah(node& n, bool global);

/// Posts one request; the errno of ibv_post_send.
int post(ibv_qp* qp, ibv_wr_opcode opcode, const std::vector<ibv_sge>& list, unsigned flags,
         std::uint64_t remote = 0, std::uint32_t rkey = 0, std::uint64_t first = 0, std::uint64_t second = 0);
int post_datagram(ibv_qp* qp, const std::vector<ibv_sge>& list, unsigned flags, ibv_ah* ah, std::uint32_t qpn,
                  std::uint32_t qkey = 0x1234);
int post_receive(ibv_qp* qp, std::uint64_t id, const std::vector<ibv_sge>& list);
int post_receive(ibv_srq* srq, std::uint64_t id, const std::vector<ibv_sge>& list);
ibv_sge sge(const memory& m, std::size_t offset, std::size_t bytes);

/// Polls until there is a completion. Throws after the deadline.
ibv_wc wait(ibv_cq* cq, double seconds = 30);
/// True if no completion arrives for that long.
bool silent(ibv_cq* cq, double seconds);
ibv_qp_state state_of(ibv_qp* qp);

}  // namespace soft_test
