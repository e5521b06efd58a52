// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <array>
#include <initializer_list>
#include <utility>

namespace chorale::verbs {
namespace {

template <std::size_t N>
std::string_view row(const std::array<std::string_view, N>& names, long long index) noexcept {
  return index >= 0 && index < static_cast<long long>(N) ? names[static_cast<std::size_t>(index)]
                                                         : std::string_view{"?"};
}

template <class Value>
std::string_view named(Value value,
                       std::initializer_list<std::pair<Value, std::string_view>> names) noexcept {
  for (const auto& [one, name] : names)
    if (one == value) return name;
  return "?";
}

// In the order of the enumerations of verbs.h, all of which count from 0.
constexpr std::array<std::string_view, 7> qp_states{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
constexpr std::array<std::string_view, 6> port_states{"NOP",   "DOWN",   "INIT",
                                                      "ARMED", "ACTIVE", "ACTIVE_DEFER"};
constexpr std::array<std::string_view, 24> statuses{"SUCCESS",
                                                    "LOC_LEN_ERR",
                                                    "LOC_QP_OP_ERR",
                                                    "LOC_EEC_OP_ERR",
                                                    "LOC_PROT_ERR",
                                                    "WR_FLUSH_ERR",
                                                    "MW_BIND_ERR",
                                                    "BAD_RESP_ERR",
                                                    "LOC_ACCESS_ERR",
                                                    "REM_INV_REQ_ERR",
                                                    "REM_ACCESS_ERR",
                                                    "REM_OP_ERR",
                                                    "RETRY_EXC_ERR",
                                                    "RNR_RETRY_EXC_ERR",
                                                    "LOC_RDD_VIOL_ERR",
                                                    "REM_INV_RD_REQ_ERR",
                                                    "REM_ABORT_ERR",
                                                    "INV_EECN_ERR",
                                                    "INV_EEC_STATE_ERR",
                                                    "FATAL_ERR",
                                                    "RESP_TIMEOUT_ERR",
                                                    "GENERAL_ERR",
                                                    "TM_ERR",
                                                    "TM_RNDV_INCOMPLETE"};
constexpr std::array<std::string_view, 19> events{"CQ_ERR",
                                                  "QP_FATAL",
                                                  "QP_REQ_ERR",
                                                  "QP_ACCESS_ERR",
                                                  "COMM_EST",
                                                  "SQ_DRAINED",
                                                  "PATH_MIG",
                                                  "PATH_MIG_ERR",
                                                  "DEVICE_FATAL",
                                                  "PORT_ACTIVE",
                                                  "PORT_ERR",
                                                  "LID_CHANGE",
                                                  "PKEY_CHANGE",
                                                  "SM_CHANGE",
                                                  "SRQ_ERR",
                                                  "SRQ_LIMIT_REACHED",
                                                  "QP_LAST_WQE_REACHED",
                                                  "CLIENT_REREGISTER",
                                                  "GID_CHANGE"};

static_assert(IBV_QPS_RESET == 0 && IBV_QPS_ERR == 6);
static_assert(IBV_PORT_NOP == 0 && IBV_PORT_ACTIVE_DEFER == 5);
static_assert(IBV_WC_SUCCESS == 0 && IBV_WC_REM_ACCESS_ERR == 10 && IBV_WC_TM_RNDV_INCOMPLETE == 23);
static_assert(IBV_EVENT_CQ_ERR == 0 && IBV_EVENT_PORT_ACTIVE == 9 && IBV_EVENT_GID_CHANGE == 18);

}  // namespace

std::string_view to_string(ibv_qp_state state) noexcept {
  return row(qp_states, state);
}

std::string_view to_string(ibv_qp_type type) noexcept {
  return named(type, {{IBV_QPT_RC, "RC"}, {IBV_QPT_UC, "UC"}, {IBV_QPT_UD, "UD"}});
}

std::string_view to_string(ibv_port_state state) noexcept {
  return row(port_states, state);
}

std::string_view to_string(ibv_wc_status status) noexcept {
  return row(statuses, status);
}

std::string_view to_string(ibv_wc_opcode opcode) noexcept {
  return named(opcode, {{IBV_WC_SEND, "send"},
                        {IBV_WC_RDMA_WRITE, "RDMA write"},
                        {IBV_WC_RDMA_READ, "RDMA read"},
                        {IBV_WC_COMP_SWAP, "compare and swap"},
                        {IBV_WC_FETCH_ADD, "fetch and add"},
                        {IBV_WC_BIND_MW, "memory window bind"},
                        {IBV_WC_LOCAL_INV, "local invalidate"},
                        {IBV_WC_RECV, "receive"},
                        {IBV_WC_RECV_RDMA_WITH_IMM, "receive of an RDMA write with immediate"}});
}

std::string_view to_string(ibv_event_type type) noexcept {
  return row(events, type);
}

std::string_view link_layer_name(unsigned char link_layer) noexcept {
  return named<int>(link_layer, {{IBV_LINK_LAYER_INFINIBAND, "InfiniBand"},
                                 {IBV_LINK_LAYER_ETHERNET, "Ethernet"},
                                 {IBV_LINK_LAYER_UNSPECIFIED, "unspecified"}});
}

std::string_view gid_type_name(unsigned int type) noexcept {
  return named<unsigned>(
      type, {{IBV_GID_TYPE_IB, "IB"}, {IBV_GID_TYPE_ROCE_V1, "RoCE v1"}, {IBV_GID_TYPE_ROCE_V2, "RoCE v2"}});
}

}  // namespace chorale::verbs
