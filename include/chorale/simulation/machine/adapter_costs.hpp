// What an adapter costs: the processor that uses it, and the messages that go through it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <chorale/simulation/machine/byte_cost.hpp>
#include <chorale/simulation/machine/host_costs.hpp>
#include <chorale/simulation/time.hpp>

namespace chorale::simulation {

/// Time of the processor, in the calls of verbs.
struct posting_costs {
  duration request{};              ///< each request that is posted to a send queue
  duration address{};              ///< further, if it is a datagram
  duration doorbell{};             ///< each call that posts to a send queue
  std::uint32_t inline_bytes = 0;  ///< the longest payload that may be written into the request
  byte_cost inline_copy;           ///< of the bytes that are
  /// Of an adapter that is software: the payload of other requests, which the processor copies to where it
  /// goes. Nothing: the adapter fetches it.
  work_cost copy;
  /// The same to memory, or from, that another core has touched since; nothing: as `copy`.
  work_cost copy_touched;
  /// Further, to or from another rank's memory that the adapter has not allocated, by way of the system.
  work_cost reach;
  duration receive{};     ///< each request that is posted to a receive queue
  duration poll{};        ///< each look at a completion queue
  duration completion{};  ///< further, each completion that is found
};

/// What happens to a message in the adapter that sends it.
struct sending_costs {
  duration start{};     ///< from the doorbell to the first byte on the link
  duration fetch{};     ///< further, where request and payload are read from memory: not inline
  duration gap{};       ///< in which no other message of this adapter starts
  duration packet{};    ///< the same, for each packet behind the first
  duration datagram{};  ///< further latency of a datagram
  /// Of an adapter that begins no other message before this one has left, at `alone.rate`, and has been
  /// acknowledged so much later.
  struct one_at_a_time {
    byte_cost rate;              ///< at which it leaves
    duration acknowledgement{};  ///< until it is acknowledged
  };
  std::optional<one_at_a_time> alone{};  ///< none: messages overlap
};

/// What happens to a message in the adapter that it comes to.
struct receiving_costs {
  duration place{};     ///< from its last byte at the port until all is seen in memory
  duration take{};      ///< further, where it takes a receive request: sends, and writes with immediate data
  duration shared{};    ///< further, where that comes from a shared receive queue
  duration complete{};  ///< from then until its completion is seen in the queue
  duration gap{};       ///< in which the adapter takes no other message
  duration packet{};    ///< the same, for each packet behind the first
  duration datagram{};  ///< further latency of a datagram
  duration acknowledge{};  ///< from the last byte until the acknowledgement of a connection leaves
  duration read{};         ///< from the request of an RDMA read until its data leaves
  duration atomic{};       ///< from the request of an atomic operation until its answer leaves
};

/// The way between adapter and memory.
struct bus_costs {
  byte_cost rate;            ///< in each direction, or in both together
  bool half_duplex = false;  ///< what is sent and what is received share it, as on PCI and PCI-X
};

/// The adapter's memory of the queue pairs that it has just used.
struct context_costs {
  std::uint32_t count = 0;  ///< how many it holds; 0: all
  duration miss{};          ///< until another has been fetched
  duration stall{};         ///< of that, in which the adapter does nothing else
};

/// Making memory known to the adapter, and forgetting it: time of the processor.
struct registration_costs {
  duration call{};                  ///< of registering, whatever the size
  duration page{};                  ///< of registering, for each page
  duration end_call{};              ///< of forgetting, whatever the size
  duration end_page{};              ///< of forgetting, for each page
  std::uint32_t page_bytes = 4096;  ///< bytes of a page
};

/// One adapter, with one port.
struct adapter_costs {
  posting_costs posting;            ///< giving it requests
  sending_costs sending;            ///< of a message that goes
  receiving_costs receiving;        ///< of a message that comes
  bus_costs bus;                    ///< between it and memory
  context_costs contexts;           ///< of queue pairs
  registration_costs registration;  ///< of memory
  duration wake{};                  ///< from a completion until the thread runs that slept on its channel
  std::uint32_t burst = 1U << 31;   ///< bytes after which another queue pair of the adapter has its turn
  bool multicast = true;            ///< whether it has multicast
  bool datagrams = true;            ///< whether it has datagrams
  /// What it grants, refuses and does, as CHORALE_SOFT_PROFILE has it (docs/soft0.md); ranks take turns where
  /// there are several.
  std::string profile;
};

}  // namespace chorale::simulation
