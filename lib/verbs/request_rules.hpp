// SPDX-License-Identifier: Apache-2.0
// Rules of the specification for work requests, for software devices.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstdint>

#include <infiniband/verbs.h>

namespace chorale::verbs {

/// What a send work request says, except for its pieces and its address handle. Without initializers, since
/// each request on soft0 fills one.
struct request_terms {
  std::uint64_t wr_id;
  ibv_wr_opcode opcode;
  unsigned flags;
  std::uint32_t imm;
  std::uint64_t bytes;
  std::uint64_t remote_address;
  std::uint32_t rkey;
  std::uint64_t compare_add;
  std::uint64_t swap;
  std::uint32_t remote_qpn;
  std::uint32_t remote_qkey;

  [[nodiscard]] bool is_inline() const noexcept { return (flags & IBV_SEND_INLINE) != 0; }
  /// Whether it returns data: RDMA reads and atomic operations.
  [[nodiscard]] bool reads_back() const noexcept {
    return opcode == IBV_WR_RDMA_READ || opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
           opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  }
};

/// Reads a request to a queue pair. `has_atomics()`: whether the device executes atomic operations.
/// `take_address(ah)`: called for a datagram. @returns 0, or the errno with which posting it fails.
template <class HasAtomics, class TakeAddress>
[[gnu::always_inline]] inline int read_request(const ibv_send_wr& wr, ibv_qp_type type, const ibv_qp_cap& cap,
                                               HasAtomics has_atomics, TakeAddress take_address,
                                               request_terms& out) noexcept {
  if (wr.num_sge < 0 || static_cast<std::uint32_t>(wr.num_sge) > cap.max_send_sge) return EINVAL;
  const bool datagram = type == IBV_QPT_UD;
  const bool reliable = type == IBV_QPT_RC;
  out.remote_address = wr.wr.rdma.remote_addr;
  out.rkey = wr.wr.rdma.rkey;
  switch (wr.opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
      break;
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      if (datagram) return EINVAL;
      break;
    case IBV_WR_RDMA_READ:
      if (!reliable || (wr.send_flags & IBV_SEND_INLINE) != 0) return EINVAL;
      break;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      if (!reliable || !has_atomics() || (wr.send_flags & IBV_SEND_INLINE) != 0) return EINVAL;
      out.remote_address = wr.wr.atomic.remote_addr;
      out.rkey = wr.wr.atomic.rkey;
      out.compare_add = wr.wr.atomic.compare_add;
      out.swap = wr.wr.atomic.swap;
      break;
    default:
      return EINVAL;
  }
  out.wr_id = wr.wr_id;
  out.opcode = wr.opcode;
  out.flags = wr.send_flags;
  out.imm = wr.imm_data;
  out.bytes = 0;
  for (int i = 0; i < wr.num_sge; ++i) out.bytes += wr.sg_list[i].length;
  if ((wr.send_flags & IBV_SEND_INLINE) != 0 && out.bytes > cap.max_inline_data) return EINVAL;
  if (datagram) {
    if (wr.wr.ud.ah == nullptr) return EINVAL;
    take_address(*wr.wr.ud.ah);
    out.remote_qpn = wr.wr.ud.remote_qpn & 0xffffffU;
    out.remote_qkey = wr.wr.ud.remote_qkey;
  }
  return 0;
}

/// The opcode of the completion of a request.
inline ibv_wc_opcode completed_opcode(ibv_wr_opcode opcode) noexcept {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ:
      return IBV_WC_RDMA_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return IBV_WC_COMP_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return IBV_WC_FETCH_ADD;
    default:
      return IBV_WC_SEND;
  }
}

/// A responder's min_rnr_timer code as time (IBTA table 45).
inline std::chrono::microseconds rnr_time(std::uint32_t code) noexcept {
  static constexpr std::int64_t tens_of_us[32] = {
      65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
      256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
  return std::chrono::microseconds{10 * tens_of_us[code & 31U]};
}

}  // namespace chorale::verbs
