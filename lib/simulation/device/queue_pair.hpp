// A queue pair: what its program asked of it, and how far it has come with that.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <chorale/simulation/time.hpp>

#include "objects.hpp"
#include "traced.hpp"

namespace chorale::simulation::device {

/// A send work request, with copies of what the caller may reuse after posting.
struct send_request {
  std::uint64_t wr_id = 0;
  ibv_wr_opcode opcode = IBV_WR_SEND;
  unsigned flags = 0;
  std::uint32_t imm = 0;
  std::uint64_t bytes = 0;
  std::vector<ibv_sge> pieces;
  std::vector<std::byte> inline_data;
  std::uint64_t remote_address = 0;
  std::uint32_t rkey = 0;
  std::uint64_t compare_add = 0;
  std::uint64_t swap = 0;

  // Of datagrams.
  address_vector to;
  std::uint32_t remote_qpn = 0;
  std::uint32_t remote_qkey = 0;

  std::uint32_t psn = 0;
  traced trace;
  bool ended = false;  ///< with `status`; its completion waits for those before it
  ibv_wc_status status = IBV_WC_SUCCESS;
  std::uint32_t byte_len = 0;

  [[nodiscard]] bool is_inline() const noexcept { return (flags & IBV_SEND_INLINE) != 0; }
  /// RDMA reads and atomic operations: they return data.
  [[nodiscard]] bool reads_back() const noexcept {
    return opcode == IBV_WR_RDMA_READ || opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
           opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  }
};

/// The send queue, and the requester's side of a connection.
struct requester {
  ring<send_request> queue;
  std::uint64_t posted = 0;   ///< since RESET
  std::uint64_t retired = 0;  ///< up to where the program has polled: their places are free again
  std::size_t sent = 0;       ///< of `queue`, from its front on, are under way or have ended
  std::uint32_t reads = 0;    ///< of those are reads and atomic operations that have not ended
  std::uint64_t busy = 0;     ///< number of a request that leaves in several bursts, before others. 0: none
  bool waits = false;         ///< a request is to be sent once more, and not yet
  std::uint64_t failed = 0;   ///< number of a request that failed: none behind it is sent. 0: none has
  bool drains = false;        ///< the program is told when all that was sent before SQD has ended
  std::uint32_t life = 0;     ///< grows with each RESET
  std::uint32_t attempt = 0;  ///< grows each time that requests are sent once more
  std::uint32_t psn = 0;      ///< of the next request
  std::uint8_t silences = 0;  ///< how often the first request got no answer
  std::uint8_t refusals = 0;  ///< how often it found no receive
  instant departs{};          ///< nothing sent later leaves before
  instant in_order{};         ///< nothing sent later arrives before

  /// The number of the request in front.
  [[nodiscard]] std::uint64_t first() const noexcept { return posted - queue.size() + 1; }
};

/// Bytes of an RDMA write that its requester believes to be placed.
struct late_part {
  std::uint64_t address;
  std::uint32_t key;
  std::vector<std::byte> data;
  bool placed = false;
};

/// The responder's side of a connection.
struct responder {
  std::uint32_t psn = 0;  ///< of the request that comes next
  bool refused = false;   ///< that request found no receive, and is sent once more by itself
  instant placed{};       ///< no request that comes later is seen in memory before
  instant in_order{};     ///< no answer sent later arrives before
  std::vector<std::shared_ptr<late_part>> late;  ///< not placed yet
};

struct queue_pair : ibv_qp {
  hca* nic = nullptr;
  ibv_qp_cap cap{};
  bool signal_all = false;
  ibv_qp_attr attributes{};
  address_vector path;  ///< of a connection
  requester sends;
  receive_queue receives;
  responder answers;
  std::uint32_t groups = 0;  ///< in how many it is
  bool last_receive_raised = false;
  event_count asynchronous;

  [[nodiscard]] bool connected() const noexcept { return qp_type != IBV_QPT_UD; }
  [[nodiscard]] bool reliable() const noexcept { return qp_type == IBV_QPT_RC; }
  [[nodiscard]] bool is_signalled(const send_request& r) const noexcept {
    return signal_all || (r.flags & IBV_SEND_SIGNALED) != 0;
  }
  /// Whether it takes what comes from the network.
  [[nodiscard]] bool receiving() const noexcept {
    return state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQD || state == IBV_QPS_SQE;
  }
  [[nodiscard]] receive_queue& receives_from() noexcept {
    return srq == nullptr ? receives : static_cast<shared_receive_queue*>(srq)->receives;
  }
  [[nodiscard]] int rank() const noexcept { return static_cast<const device::context*>(context)->rank; }
};

}  // namespace chorale::simulation::device
