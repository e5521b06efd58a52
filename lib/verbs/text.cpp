// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <array>
#include <cstring>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "failure.hpp"

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

struct entry {
  std::string_view meaning;
  std::string_view remedy;
};

entry entry_of(ibv_wc_status status) noexcept {
  switch (status) {
    case IBV_WC_SUCCESS:
      return {"success", ""};
    case IBV_WC_LOC_LEN_ERR:
      return {
          "local length error",
          "the posted receive is shorter than the message, or the message exceeds the port's maximum: post "
          "larger receives"};
    case IBV_WC_LOC_QP_OP_ERR:
      return {"local queue pair operation error",
              "the request is inconsistent: check its scatter/gather list and, for datagrams, its address "
              "handle"};
    case IBV_WC_LOC_PROT_ERR:
      return {"local protection error",
              "the local buffer lies outside its memory region, the lkey is wrong, or the region lacks "
              "IBV_ACCESS_LOCAL_WRITE"};
    case IBV_WC_WR_FLUSH_ERR:
      return {
          "request flushed",
          "the queue pair was in the error state: the first failed completion on it, or its peer, says why"};
    case IBV_WC_MW_BIND_ERR:
      return {"memory window bind error", "check the region's IBV_ACCESS_MW_BIND"};
    case IBV_WC_BAD_RESP_ERR:
      return {"bad response",
              "the peer answered out of protocol: were both queue pairs connected to each other?"};
    case IBV_WC_LOC_ACCESS_ERR:
      return {"local access error", "the region of the receive buffer lacks IBV_ACCESS_LOCAL_WRITE"};
    case IBV_WC_REM_INV_REQ_ERR:
      return {
          "remote invalid request",
          "the peer's receive was too short, or its queue pair does not allow this operation (access flags "
          "of the transition to INIT)"};
    case IBV_WC_REM_ACCESS_ERR:
      return {
          "remote access error",
          "the address lies outside the peer's memory region, the rkey is wrong or the region is closed, or "
          "it lacks the IBV_ACCESS_REMOTE_* flag"};
    case IBV_WC_REM_OP_ERR:
      return {"remote operation error", "the peer failed on its own side: its completions say why"};
    case IBV_WC_RETRY_EXC_ERR:
      return {
          "retries exceeded",
          "the peer does not answer: it died, its queue pair is not ready or was destroyed, or the path is "
          "wrong (GID index, LID, MTU, PKey, cable)"};
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return {"receiver not ready",
              "the peer posted no receive in time: post receives ahead, or raise rnr_retry"};
    case IBV_WC_REM_ABORT_ERR:
      return {"remote abort", "the peer ended the operation"};
    case IBV_WC_FATAL_ERR:
      return {"fatal error", "the device failed: see the kernel's log"};
    case IBV_WC_RESP_TIMEOUT_ERR:
      return {"response timeout", "the peer does not answer"};
    default:
      return {"failed", "see the device's documentation"};
  }
}

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

std::string_view remedy(ibv_wc_status status) noexcept {
  return entry_of(status).remedy;
}

std::string describe(const ibv_wc& completion, std::string_view operation) {
  const entry about = entry_of(completion.status);
  const bool good = completion.status == IBV_WC_SUCCESS;
  std::string what{operation};
  if (what.empty() && good) what = to_string(completion.opcode);
  if (what.empty()) what = fmt::format("work request {:#x}", completion.wr_id);
  std::string text = fmt::format("{} on QP {:#x}: {} ({})", what, completion.qp_num, about.meaning,
                                 to_string(completion.status));
  if (!good && (completion.vendor_err & 0xffff0000U) == soft_vendor_tag) {
    const auto errnum = static_cast<int>(completion.vendor_err & 0xffffU);
    return text + fmt::format("; soft0 cannot reach the peer from this process: {}; {}",
                              std::strerror(errnum), soft_remedy(errnum));
  }
  if (!good) text += fmt::format(", vendor {:#x}; {}", completion.vendor_err, about.remedy);
  return text;
}

}  // namespace chorale::verbs
