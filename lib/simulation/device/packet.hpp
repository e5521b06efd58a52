// SPDX-License-Identifier: Apache-2.0
// What a simulated network carries: whole messages and their answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <infiniband/verbs.h>

#include "objects.hpp"
#include "traced.hpp"
#include "wire.hpp"

namespace chorale::simulation::device {

/// Identifies a request to its queue pair. It travels with the message and its answer, like a packet number.
struct request_name {
  std::uint64_t number = 0;   ///< the count of requests posted, this one included
  std::uint32_t life = 0;     ///< of the queue pair: the count of RESETs
  std::uint32_t attempt = 0;  ///< the count of retransmissions
};

/// Source and destination.
struct label {
  hca* from = nullptr;
  hca* to = nullptr;
  std::uint32_t source = 0;       ///< number of the sending queue pair
  std::uint32_t destination = 0;  ///< number of the receiving queue pair
};

/// A request on its way to the peer, with its data.
struct message {
  label on;
  request_name name;
  ibv_wr_opcode opcode = IBV_WR_SEND;
  bool solicited = false;
  std::uint32_t imm = 0;  ///< in network byte order
  std::uint32_t psn = 0;
  std::uint64_t bytes = 0;  ///< requested or carried
  std::uint64_t remote_address = 0;
  std::uint32_t rkey = 0;
  std::uint64_t compare_add = 0;
  std::uint64_t swap = 0;
  std::vector<std::byte> data;
  instant sent{};
  arrival arrives;               ///< of its last burst
  std::uint64_t last_burst = 0;  ///< bytes of the last burst
  placement placed;
  traced trace;

  // For datagrams.
  address_vector path{};
  std::uint32_t qkey = 0;
};

/// A responder's answer to a request.
struct answer {
  enum class kind_type { done, not_ready, failed };
  label on;
  request_name name;
  kind_type kind = kind_type::done;
  ibv_wc_status status = IBV_WC_SUCCESS;
  std::uint32_t rnr_timer = 0;  ///< for not_ready
  std::vector<std::byte> data;  ///< of an RDMA read or an atomic operation
  arrival arrives;
  traced trace;
};

}  // namespace chorale::simulation::device
