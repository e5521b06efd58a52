// SPDX-License-Identifier: Apache-2.0
#include "work_completion.hpp"

#include <cstring>

#include <fmt/format.h>

#include "failure.hpp"
#include "text.hpp"

namespace chorale::verbs {
namespace {

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
