// SPDX-License-Identifier: Apache-2.0
// The calls that hand requests to the device.
#pragma once

#include "objects.hpp"

namespace chorale::simulation::device {

int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad) noexcept;
int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad) noexcept;
int post_srq_recv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad) noexcept;

}  // namespace chorale::simulation::device
