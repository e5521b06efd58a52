// Which attributes a transition of a queue pair requires and allows (IBTA 11.2.5.2; the kernel's
// qp_state_table): for the providers that have no kernel to look.
#pragma once

#include <infiniband/verbs.h>

namespace chorale::verbs {

/// 0 or EINVAL: whether `mask` may be given for this transition, and has all that it requires.
int check_transition(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask) noexcept;
/// 0 or EINVAL: whether the values that `mask` selects are in the range of a device with one port. What
/// further depends on the device, `check` of `profile_rules.hpp` looks at.
int check_values(const ibv_qp_attr& attributes, int mask) noexcept;

/// What a queue pair was created with, for ibv_query_qp.
inline ibv_qp_init_attr created_with(const ibv_qp& qp, const ibv_qp_cap& cap, bool signals_all) noexcept {
  return {.qp_context = qp.qp_context,
          .send_cq = qp.send_cq,
          .recv_cq = qp.recv_cq,
          .srq = qp.srq,
          .cap = cap,
          .qp_type = qp.qp_type,
          .sq_sig_all = signals_all ? 1 : 0};
}

}  // namespace chorale::verbs
