// Simulated ranks, and what goes wrong among them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stream_node.hpp"

namespace protocols {

/// All ranks, and what goes wrong among them.
struct simulated_job {
  explicit simulated_job(virtual_net& n) : net(n) {}
  virtual_net& net;
  int ranks = 2;
  faults wrong;
  double refusal = 0;           ///< how often a send queue is full
  double replay = 0;            ///< how often an old datagram comes again
  double damage = 0;            ///< how often a damaged one comes as well
  std::size_t receives = 1024;  ///< posted by each rank
  bool same_host = true;        ///< ranks see which others are stopped
  bool busy = false;            ///< ranks outnumber cores: each looks seldom
  std::uint32_t calls = 0;      ///< of the program
  std::uint32_t put_bytes = 0;  ///< of a place for puts
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

  /// Sends what an adversary, or a slow switch, may send besides.
  void disturb(const datagram& d, int to);

 private:
  datagram damaged(datagram d);
};

}  // namespace protocols
