// SPDX-License-Identifier: Apache-2.0
// A connection of a rank to itself.
#pragma once

#include <cstdint>

#include <chorale/core/config.hpp>
#include <chorale/transport/concepts.hpp>
#include <chorale/transport/wire/device_port.hpp>
#include <chorale/verbs/completion_queue.hpp>
#include <chorale/verbs/queue_pair.hpp>
#include <chorale/verbs/registered_buffer.hpp>

namespace chorale::transport {

/// A queue pair connected to itself, for atomic operations on this rank's own memory: a device's atomic
/// operations are atomic with respect to each other (IBV_ATOMIC_HCA), but not to the processor's, so this
/// rank's own operations must also go through the device. Cost: one queue pair, one completion queue, one
/// registered page. One thread at a time.
class loopback {
 public:
  /// On the device and domain of `port`, whose keys name the memory. @throws error.
  loopback(const device_port& port, const config& settings);

  /// Adds to an aligned word of exposed memory; returns the old value. Waits only for the device.
  /// @throws error errc::completion_failed; errc::deadline.
  std::uint64_t fetch_add(const remote_region& own, std::size_t offset, std::uint64_t value);
  /// Sets the word to `wanted` if it equals `expected`; returns the old value.
  std::uint64_t compare_swap(const remote_region& own, std::size_t offset, std::uint64_t expected,
                             std::uint64_t wanted);

 private:
  std::uint64_t execute(ibv_wr_opcode opcode, const remote_region& own, std::size_t offset,
                        std::uint64_t first, std::uint64_t second);

  std::chrono::milliseconds patience_;
  verbs::registered_buffer old_;
  verbs::completion_queue cq_;
  verbs::queue_pair qp_;
};

}  // namespace chorale::transport
