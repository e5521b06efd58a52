// SPDX-License-Identifier: Apache-2.0
// Two connected QPs in one process, and their asynchronous events.
#pragma once

#include <poll.h>

#include "soft_support.hpp"

namespace soft_test {

/// Two connected QPs.
struct pair {
  explicit pair(const rc_options& left = {}, const rc_options& right = {}, bool signal_all = false)
      : a(make_qp(here, IBV_QPT_RC, nullptr, 16, signal_all)), b(make_qp(there, IBV_QPT_RC, nullptr, 16)) {
    connect_rc(here, a, b->qp_num, left);
    connect_rc(there, b, a->qp_num, right);
  }
  ~pair() {
    soft().destroy_qp(a);
    if (b != nullptr) soft().destroy_qp(b);
  }
  int write(unsigned bytes, unsigned flags = IBV_SEND_SIGNALED) {
    return post(a, IBV_WR_RDMA_WRITE, {sge(from, 0, bytes)}, flags, to.address(), to.mr->rkey);
  }
  node here;
  node there;
  memory from{here, 65536, true};
  memory to{there, 65536, true};
  ibv_qp* a;
  ibv_qp* b;
};

/// The next asynchronous event, acknowledged; -1 if none comes within half a minute.
inline int next_event(const node& n) {
  pollfd p{n.context->async_fd, POLLIN, 0};
  if (poll(&p, 1, 30000) != 1) return -1;
  ibv_async_event event{};
  if (soft().get_async_event(n.context, &event) != 0) return -2;
  soft().ack_async_event(&event);
  return static_cast<int>(event.event_type);
}

}  // namespace soft_test
