// SPDX-License-Identifier: Apache-2.0
// A queue pair: its requests, and their progress.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <chorale/simulation/time.hpp>

#include "../../verbs/request_rules.hpp"
#include "objects.hpp"
#include "traced.hpp"

namespace chorale::simulation::device {

/// A send work request, with copies of everything that the caller may reuse after posting.
struct send_request : verbs::request_terms {
  std::vector<ibv_sge> pieces;
  std::vector<std::byte> inline_data;
  address_vector to{};  ///< of a datagram
  std::uint32_t psn = 0;
  traced trace;
  bool ended = false;  ///< with `status`; its completion waits for those of earlier requests
  ibv_wc_status status = IBV_WC_SUCCESS;
  std::uint32_t byte_len = 0;
};

/// The send queue, and the requester's side of a connection.
struct requester {
  ring<send_request> queue;
  std::uint64_t posted = 0;   ///< since RESET
  std::uint64_t retired = 0;  ///< requests up to this number have been polled, and their entries are free
  std::size_t sent = 0;       ///< requests from the front of `queue` that are in flight or have ended
  std::uint32_t reads = 0;    ///< of those, reads and atomic operations that have not ended
  std::uint64_t busy = 0;  ///< number of a request that leaves in several bursts, before later ones; 0: none
  bool waits = false;      ///< until a request is retransmitted after an RNR NAK
  std::uint64_t failed = 0;   ///< number of a failed request: no later one is sent; 0: none
  bool drains = false;        ///< SQ_DRAINED is raised when everything sent before SQD has ended
  std::uint32_t life = 0;     ///< the count of RESETs
  std::uint32_t attempt = 0;  ///< the count of retransmissions
  std::uint32_t psn = 0;      ///< of the next request
  std::uint8_t silences = 0;  ///< timeouts of the first request
  std::uint8_t refusals = 0;  ///< RNR NAKs of the first request
  instant departs{};          ///< no later request leaves earlier
  instant in_order{};         ///< no later request arrives earlier

  /// The number of the first request in the queue.
  [[nodiscard]] std::uint64_t first() const noexcept { return posted - queue.size() + 1; }
};

/// Bytes of an RDMA write that are not in memory, although the requester may have its completion.
struct late_part {
  std::uint64_t address;
  std::uint32_t key;
  std::vector<std::byte> data;
  bool placed = false;
};

/// The responder's side of a connection.
struct responder {
  std::uint32_t psn = 0;                         ///< of the next request
  bool refused = false;                          ///< that request found no receive, and will be retransmitted
  instant placed{};                              ///< no later request is visible in memory earlier
  instant in_order{};                            ///< no later answer arrives earlier
  std::vector<std::shared_ptr<late_part>> late;  ///< not placed yet
};

struct queue_pair : ibv_qp {
  hca* nic = nullptr;
  ibv_qp_cap cap{};
  bool signal_all = false;
  ibv_qp_attr attributes{};
  address_vector path{};  ///< of a connection
  requester sends;
  receive_queue receives;
  responder answers;
  std::uint32_t groups = 0;  ///< the number of its groups
  bool last_receive_raised = false;
  event_count asynchronous;

  [[nodiscard]] bool connected() const noexcept { return qp_type != IBV_QPT_UD; }
  [[nodiscard]] bool reliable() const noexcept { return qp_type == IBV_QPT_RC; }
  [[nodiscard]] bool is_signalled(const send_request& r) const noexcept {
    return signal_all || (r.flags & IBV_SEND_SIGNALED) != 0;
  }
  /// Whether it accepts incoming packets.
  [[nodiscard]] bool receiving() const noexcept {
    return state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQD || state == IBV_QPS_SQE;
  }
  [[nodiscard]] receive_queue& receives_from() noexcept {
    return srq == nullptr ? receives : static_cast<shared_receive_queue*>(srq)->receives;
  }
  [[nodiscard]] int rank() const noexcept { return static_cast<const device::context*>(context)->rank; }
};

}  // namespace chorale::simulation::device
