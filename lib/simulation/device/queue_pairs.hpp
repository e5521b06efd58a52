// SPDX-License-Identifier: Apache-2.0
// The verbs of queue pairs.
#pragma once

#include "objects.hpp"

namespace chorale::simulation::device {

ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) noexcept;
int modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask) noexcept;
int query_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask, ibv_qp_init_attr* init) noexcept;
int query_qp_data_in_order(ibv_qp* qp, ibv_wr_opcode opcode, std::uint32_t flags) noexcept;
int destroy_qp(ibv_qp* qp) noexcept;

/// Resets all queue pairs of a context.
void reset_all(context& c) noexcept;
/// Resets all queue pairs of a rank on that adapter.
void reset_all(hca& nic, int rank) noexcept;

ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr* attributes) noexcept;
int modify_srq(ibv_srq* srq, ibv_srq_attr* attributes, int mask) noexcept;
int query_srq(ibv_srq* srq, ibv_srq_attr* attributes) noexcept;
int destroy_srq(ibv_srq* srq) noexcept;

}  // namespace chorale::simulation::device
