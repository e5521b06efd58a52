// What a message goes through in an adapter: its engines, its bus, its memory of queue pairs.
#pragma once

#include <cstdint>

#include <chorale/simulation/machine/adapter_costs.hpp>
#include <chorale/simulation/time.hpp>

#include "../network/network.hpp"
#include "../network/occupancy.hpp"
#include "context_cache.hpp"

namespace chorale::simulation {

/// A message on its way out of an adapter.
struct outgoing {
  std::uint64_t bytes = 0;
  std::uint32_t queue_pair = 0;
  service kind = service::connected;
  bool from_memory = true;  ///< request and payload are read from there: it was not posted inline
};

/// When it can leave.
struct departure {
  instant first;  ///< its first byte
  instant last;   ///< its last byte, when its memory may be used again as far as the adapter is concerned
};

/// A message at the port of an adapter.
struct incoming {
  std::uint64_t bytes = 0;
  std::uint32_t queue_pair = 0;
  service kind = service::connected;
  bool takes_receive = false;  ///< sends, and writes with immediate data
  bool shared = false;         ///< its receive request comes from a shared receive queue
};

/// When it has come.
struct placement {
  instant seen;       ///< all of it in memory
  instant completed;  ///< its completion in the queue, where it has one
  instant answered;   ///< its acknowledgement leaves, where it has one
};

/// An adapter with one port: a state machine without a clock, which is asked once for each message (or each
/// burst of a long one). Sending and receiving each do one message at a time; the bus is shared by both where
/// it is half duplex.
class adapter {
 public:
  /// With packets of at most `payload` bytes.
  adapter(const adapter_costs& costs, std::uint32_t payload);

  /// The message whose doorbell the adapter has heard at `rung`, or whose turn it is then.
  departure send(instant rung, const outgoing& what);

  /// The message that the network brings at `when`.
  placement receive(const arrival& when, const incoming& what);

  /// Nothing will be asked for before `now` any more.
  void forget(instant now);

  [[nodiscard]] const adapter_costs& costs() const noexcept { return costs_; }
  [[nodiscard]] const context_cache& contexts() const noexcept { return contexts_; }

 private:
  [[nodiscard]] std::int64_t further_packets(std::uint64_t bytes) const noexcept {
    return bytes == 0 ? 0 : static_cast<std::int64_t>((bytes - 1) / payload_);
  }
  /// What the engine `engine` does with a message: when it has begun, and the context is at hand.
  instant begin(occupancy& engine, instant from, std::uint32_t queue_pair, duration length);

  adapter_costs costs_;
  std::uint32_t payload_;
  context_cache contexts_;
  occupancy sending_;
  occupancy receiving_;
  occupancy to_link_;    // the bus, or what goes out on it
  occupancy to_memory_;  // what comes in on it, where that has a way of its own
};

/// Time of the processor in making `bytes` known to the adapter, and in forgetting them. Where the memory
/// begins does not count: it would differ from run to run.
[[nodiscard]] duration time_to_register(const registration_costs& costs, std::uint64_t bytes) noexcept;
[[nodiscard]] duration time_to_deregister(const registration_costs& costs, std::uint64_t bytes) noexcept;

}  // namespace chorale::simulation
