// Rules of the specification for work requests, for software devices.
#pragma once

#include <chrono>
#include <cstdint>

#include <infiniband/verbs.h>

namespace chorale::verbs {

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
