// SPDX-License-Identifier: Apache-2.0
// The path of a message through an adapter: its engines, its bus, its cache of queue pair contexts.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <chorale/simulation/machine/adapter_costs.hpp>
#include <chorale/simulation/time.hpp>

#include "../network/network.hpp"
#include "../network/occupancy.hpp"

namespace chorale::simulation {

/// A message on its way out of an adapter.
struct outgoing {
  std::uint64_t bytes = 0;
  std::uint32_t queue_pair = 0;
  service kind = service::connected;
  bool from_memory = true;  ///< the adapter reads request and payload from memory: not posted inline
};

/// When a message leaves.
struct departure {
  instant first;  ///< its first byte
  instant last;   ///< its last byte; from then on the adapter does not need its memory
};

/// A message at the port of an adapter.
struct incoming {
  std::uint64_t bytes = 0;
  std::uint32_t queue_pair = 0;
  service kind = service::connected;
  bool takes_receive = false;  ///< true for sends, and for writes with immediate data
  bool shared = false;         ///< its receive request comes from a shared receive queue
};

/// When a message has been received.
struct placement {
  instant seen;       ///< all of it is in memory
  instant completed;  ///< its completion is in the queue, if it has one
  instant answered;   ///< its acknowledgement leaves, if it has one
};

/// The adapter's cache of queue pair contexts, which limits how many connections are cheap (P5 section 3.2):
/// set-associative, with sets of four contexts and LRU replacement. A queue pair's set is a hash of
/// its number, so a nearly full cache already has a few misses, and their rate grows with further queue
/// pairs.
class context_cache {
 public:
  /// Room for `count` contexts; 0: unlimited.
  explicit context_cache(std::uint32_t count);

  /// Uses the context of a queue pair, and loads it. @returns whether it was in the cache.
  bool use(std::uint32_t queue_pair) noexcept;

 private:
  static constexpr std::uint32_t ways = 4;
  using set = std::array<std::uint64_t, ways>;  // numbers of queue pairs + 1, the most recent first; 0: empty

  std::vector<set> sets_;
  std::uint32_t used_ways_;
};

/// An adapter with one port: a state machine without a clock, called once for each message (or each burst of
/// a long one). The sending and the receiving engine each handle one message at a time; they share the bus if
/// it is half duplex.
class adapter {
 public:
  /// Packets have at most `payload` bytes.
  adapter(const adapter_costs& costs, std::uint32_t payload);

  /// Sends the message whose doorbell the adapter gets at `rung`, or whose turn comes then.
  departure send(instant rung, const outgoing& what);

  /// Sends the next burst of a message whose last burst left as `before` and arrives as `there`.
  departure send_next(const departure& before, const arrival& there, const outgoing& what);

  /// Sends the data that the RDMA read `request` asks for.
  departure answer_read(const placement& request, const outgoing& data);

  /// Receives the message that the network brings at `when`.
  placement receive(const arrival& when, const incoming& what);

  /// No later call concerns times before `now`.
  void forget(instant now);

  [[nodiscard]] const adapter_costs& costs() const noexcept { return costs_; }

 private:
  [[nodiscard]] std::int64_t further_packets(std::uint64_t bytes) const noexcept {
    return bytes == 0 ? 0 : static_cast<std::int64_t>((bytes - 1) / payload_);
  }
  /// Starts `length` of work by `engine`, once the context of the queue pair is in the cache. @returns when
  /// it begins.
  instant begin(occupancy& engine, instant from, std::uint32_t queue_pair, duration length);

  adapter_costs costs_;
  std::uint32_t payload_;
  context_cache contexts_;
  occupancy sending_;
  occupancy receiving_;
  occupancy to_link_;    // the bus, or its outgoing direction
  occupancy to_memory_;  // its incoming direction, if the bus is full duplex
};

/// The processor's time to register `bytes` and to deregister them. It does not depend on the address, which
/// differs from run to run.
[[nodiscard]] duration time_to_register(const registration_costs& costs, std::uint64_t bytes) noexcept;
[[nodiscard]] duration time_to_deregister(const registration_costs& costs, std::uint64_t bytes) noexcept;

}  // namespace chorale::simulation
