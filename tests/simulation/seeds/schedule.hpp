// SPDX-License-Identifier: Apache-2.0
// A run of the whole library, drawn from a seed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <chorale/core/config.hpp>
#include <chorale/simulation/faults.hpp>

namespace seeds {

enum class transport_kind { rc, rc_send_receive, ud, ud_rdma, hybrid };

enum class call_kind {
  barrier,
  broadcast,
  reduce,
  allreduce,
  ordered_allreduce,  ///< with an operator that does not commute
  allgather,
  allgatherv,
  alltoall,
  gather,
  scatter,
  reduce_scatter,
  scan,
  exscan,
  exchange,
  window,
  nonblocking,
  split,
};
inline constexpr int call_kinds = static_cast<int>(call_kind::split) + 1;

/// A call by every rank.
struct planned_call {
  call_kind what = call_kind::barrier;
  std::size_t count = 0;  ///< elements of 8 bytes: of a message, or of each block
  int root = 0;
  int shift = 1;    ///< the peer, relative to the caller
  int colours = 1;  ///< of a split
};

struct schedule {
  std::uint64_t seed = 0;
  transport_kind over = transport_kind::rc;
  int ranks = 1;
  int ranks_per_host = 1;
  int cores = 4;  ///< of a host; shared by its ranks if there are more ranks
  std::vector<planned_call> calls;
  std::uint32_t mtu = 4096;                      ///< of a packet
  chorale::simulation::duration shortest_gap{};  ///< as in chorale::simulation::run_options
  std::uint64_t longest_pause = 0;               ///< the longest computation before a call, in nanoseconds
  /// One rank sleeps for a long time before one of its calls.
  struct lateness {
    int rank = -1;
    std::size_t call = 0;
    chorale::simulation::duration time{};
  } late;
  bool multicasts = false;  ///< barriers, broadcasts and allreduces reach all ranks by multicast; over ud
  bool catches = false;     ///< a rank catches a failure, and then ends its communicator
  bool near = false;        ///< ranks of a host reach each other without its adapter
  chorale::config settings;
  chorale::simulation::faults wrong;
};

[[nodiscard]] schedule draw(std::uint64_t seed);
/// In words, on several lines.
[[nodiscard]] std::string describe(const schedule& s);
[[nodiscard]] const char* name_of(call_kind what) noexcept;
[[nodiscard]] const char* name_of(transport_kind over) noexcept;

}  // namespace seeds
