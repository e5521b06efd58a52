// SPDX-License-Identifier: Apache-2.0
// The costs of an adapter: of the processor that uses it, and of the messages through it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <chorale/simulation/machine/byte_cost.hpp>
#include <chorale/simulation/machine/host_costs.hpp>
#include <chorale/simulation/time.hpp>

namespace chorale::simulation {

/// Processor time in the calls of verbs.
struct posting_costs {
  duration request{};              ///< each send request
  duration address{};              ///< in addition, if it is a datagram
  duration doorbell{};             ///< each call that posts send requests
  std::uint32_t inline_bytes = 0;  ///< the longest payload that may be written into the request
  byte_cost inline_copy;           ///< of inline bytes
  /// For software adapters: the processor's copy of a payload, inline or not, to the target. Empty: the
  /// adapter fetches the payload.
  work_cost copy;
  /// The same from or to memory that another core touched last; empty: as `copy`.
  work_cost copy_touched;
  /// In addition, through the system, from or to another rank's memory that the adapter has not allocated.
  work_cost reach;
  duration receive{};     ///< each receive request
  duration poll{};        ///< each poll of a completion queue
  duration completion{};  ///< in addition, each completion found
};

/// The handling of a message by the adapter that sends it.
struct sending_costs {
  duration start{};     ///< from the doorbell to the first byte on the link
  duration fetch{};     ///< in addition, if request and payload are read from memory: not inline
  duration gap{};       ///< during which no other message of this adapter starts
  duration packet{};    ///< the same, for each packet after the first
  duration datagram{};  ///< further latency of a datagram
  /// An adapter that starts no other message before this one has left, at `alone.rate`, and has been
  /// acknowledged.
  struct one_at_a_time {
    byte_cost rate;              ///< at which the message leaves
    duration acknowledgement{};  ///< from then until it is acknowledged
  };
  std::optional<one_at_a_time> alone{};  ///< none: messages overlap
};

/// The handling of a message by the adapter that receives it.
struct receiving_costs {
  duration place{};     ///< from its last byte at the port until all of it is visible in memory
  duration take{};      ///< in addition, if it takes a receive request: sends, and writes with immediate data
  duration shared{};    ///< in addition, if that comes from a shared receive queue
  duration complete{};  ///< from then until its completion is visible in the queue
  duration gap{};       ///< during which the adapter accepts no other message
  duration packet{};    ///< the same, for each packet after the first
  duration datagram{};  ///< further latency of a datagram
  duration acknowledge{};  ///< from the last byte until the acknowledgement of a connection leaves
  duration read{};         ///< from the request of an RDMA read until the data leave
  duration atomic{};       ///< from the request of an atomic operation until its answer leaves
};

/// The path between adapter and memory.
struct bus_costs {
  byte_cost rate;            ///< in each direction, or in both together
  bool half_duplex = false;  ///< sending and receiving share it, as on PCI and PCI-X
};

/// The adapter's cache of queue pair contexts.
struct context_costs {
  std::uint32_t count = 0;  ///< its capacity; 0: unlimited
  duration miss{};          ///< until a missing context has been fetched
  duration stall{};         ///< of that, the time in which the adapter does nothing else
};

/// Registering and deregistering memory: processor time.
struct registration_costs {
  duration call{};                  ///< of registering, whatever the size
  duration page{};                  ///< of registering, for each page
  duration end_call{};              ///< of deregistering, whatever the size
  duration end_page{};              ///< of deregistering, for each page
  std::uint32_t page_bytes = 4096;  ///< bytes of a page
};

/// One adapter, with one port.
struct adapter_costs {
  posting_costs posting;            ///< posting and polling
  sending_costs sending;            ///< of outgoing messages
  receiving_costs receiving;        ///< of incoming messages
  bus_costs bus;                    ///< between the adapter and memory
  context_costs contexts;           ///< of queue pairs
  registration_costs registration;  ///< of memory
  duration wake{};                  ///< from a completion until the thread that slept on its channel runs
  std::uint32_t burst = 1U << 31;   ///< bytes after which the adapter's other queue pairs have their turns
  bool multicast = true;            ///< whether it supports multicast
  bool datagrams = true;            ///< whether it supports datagrams
  /// Its properties and faults, in the syntax of CHORALE_SOFT_PROFILE (docs/soft0.md); ranks take several
  /// profiles in turn.
  std::string profile;
};

}  // namespace chorale::simulation
