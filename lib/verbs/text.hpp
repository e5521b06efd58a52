// SPDX-License-Identifier: Apache-2.0
// The verbs in words, for messages: names of enumerations, and completions.
#pragma once

#include <string>
#include <string_view>

#include <infiniband/verbs.h>

namespace chorale::verbs {

/// "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"; "?" for a value outside the enumeration (all of
/// these).
std::string_view to_string(ibv_qp_state state) noexcept;
/// "RC", "UC", "UD".
std::string_view to_string(ibv_qp_type type) noexcept;
/// "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER", "NOP".
std::string_view to_string(ibv_port_state state) noexcept;
/// "SUCCESS", "LOC_LEN_ERR", ...: the constant without IBV_WC_.
std::string_view to_string(ibv_wc_status status) noexcept;
/// "RDMA write", "receive", ...
std::string_view to_string(ibv_wc_opcode opcode) noexcept;
/// "QP_FATAL", "COMM_EST", ...: the constant without IBV_EVENT_.
std::string_view to_string(ibv_event_type type) noexcept;
/// "InfiniBand", "Ethernet" or "unspecified", for ibv_port_attr::link_layer.
std::string_view link_layer_name(unsigned char link_layer) noexcept;
/// "IB", "RoCE v1" or "RoCE v2", for gid_row::type.
std::string_view gid_type_name(unsigned int type) noexcept;

/// "RDMA write on QP 0x12: remote access error (REM_ACCESS_ERR), vendor 0x0; <remedy>". A failed completion
/// defines only wr_id, status, qp_num and vendor_err, so `operation`, if given, names the operation.
std::string describe(const ibv_wc& completion, std::string_view operation = {});

/// The usual cause of `status` and the remedy, as one clause; empty for success.
std::string_view remedy(ibv_wc_status status) noexcept;

}  // namespace chorale::verbs
