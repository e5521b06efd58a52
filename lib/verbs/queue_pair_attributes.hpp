// SPDX-License-Identifier: Apache-2.0
// Which attributes a transition of a queue pair requires and allows (IBTA 11.2.5.2; the kernel's
// qp_state_table): for providers without a kernel driver that checks them.
#pragma once

#include <infiniband/verbs.h>

namespace chorale::verbs {

/// 0 if this transition allows all attributes in `mask` and `mask` has all that it requires, otherwise
/// EINVAL.
int check_transition(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask) noexcept;
/// 0 if the values selected by `mask` are valid for a device with one port, otherwise EINVAL. `check_change`
/// in `profile_rules.hpp` has the rules that depend on the device.
int check_values(const ibv_qp_attr& attributes, int mask) noexcept;

/// Keeps the attributes in `mask`, which have been checked.
void keep(ibv_qp_attr& kept, const ibv_qp_attr& given, int mask) noexcept;

/// The creation attributes of a queue pair, for ibv_query_qp.
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
