// What goes over the network of a simulation: whole messages, and their answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <infiniband/verbs.h>

#include "objects.hpp"
#include "traced.hpp"
#include "wire.hpp"

namespace chorale::simulation::device {

/// By what a queue pair knows its own request again. It travels along, as a packet number does.
struct request_name {
  std::uint64_t number = 0;   ///< how many were posted, this one included
  std::uint32_t life = 0;     ///< of the queue pair, from RESET to RESET
  std::uint32_t attempt = 0;  ///< grows when requests are sent once more
};

/// Where something comes from and goes to.
struct label {
  hca* from = nullptr;
  hca* to = nullptr;
  std::uint32_t source = 0;       ///< number of the queue pair
  std::uint32_t destination = 0;  ///< the same at the other end
};

/// A request on its way to the peer, with its data.
struct message {
  label on;
  request_name name;
  ibv_wr_opcode opcode = IBV_WR_SEND;
  bool solicited = false;
  std::uint32_t imm = 0;  ///< in network byte order
  std::uint32_t psn = 0;
  std::uint64_t bytes = 0;  ///< asked for or brought
  std::uint64_t remote_address = 0;
  std::uint32_t rkey = 0;
  std::uint64_t compare_add = 0;
  std::uint64_t swap = 0;
  std::vector<std::byte> data;
  instant sent{};
  arrival arrives;               ///< of its last burst
  std::uint64_t last_burst = 0;  ///< bytes of that
  placement placed;
  traced trace;

  // Of datagrams.
  address_vector path;
  std::uint32_t qkey = 0;
};

/// A responder's answer to a request.
struct answer {
  enum class kind_type { done, not_ready, failed };
  label on;
  request_name name;
  kind_type kind = kind_type::done;
  ibv_wc_status status = IBV_WC_SUCCESS;
  std::uint32_t rnr_timer = 0;  ///< of not_ready
  std::vector<std::byte> data;  ///< of RDMA reads and atomic operations
  arrival arrives;
  traced trace;
};

}  // namespace chorale::simulation::device
