// SPDX-License-Identifier: Apache-2.0
// Simulated ranks, and their faults.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stream_node.hpp"

namespace protocols {

/// All ranks, and their faults.
struct simulated_job {
  explicit simulated_job(virtual_net& n) : net(n) {}
  virtual_net& net;
  int ranks = 2;
  faults wrong;
  double refusal = 0;           ///< probability that a send queue is full
  double replay = 0;            ///< probability that an old datagram arrives again
  double damage = 0;            ///< probability that a damaged datagram arrives as well
  std::size_t receives = 1024;  ///< posted by each rank
  bool same_host = true;        ///< ranks see which others are stopped
  bool busy = false;            ///< ranks outnumber cores: each polls rarely
  std::uint32_t calls = 0;      ///< number of calls of the program
  std::uint32_t put_bytes = 0;  ///< size of a place for puts
  stream_table::options options;
  failure_detector::limits limits{15s, 60s, {}};
  std::vector<std::unique_ptr<stream_node>> nodes;
  struct sent_before {
    int to;
    datagram what;
  };
  std::vector<sent_before> old{};
  std::uint64_t datagrams = 0;
  std::uint64_t missed_farewells = 0;

  /// Sends what an adversary, or a slow switch, may send in addition.
  void disturb(const datagram& d, int to);

 private:
  datagram damaged(datagram d);
};

}  // namespace protocols
