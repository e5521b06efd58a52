// A connection of a rank with itself.
#pragma once

#include <cstdint>

#include <chorale/core/config.hpp>
#include <chorale/transport/concepts.hpp>
#include <chorale/transport/device_port.hpp>
#include <chorale/verbs/completion_queue.hpp>
#include <chorale/verbs/queue_pair.hpp>
#include <chorale/verbs/registered_buffer.hpp>

namespace chorale::transport {

/// A queue pair that is connected with itself, for atomic operations on this rank's own memory: those of a
/// device are atomic among themselves (IBV_ATOMIC_HCA), but not with the processor's, so that this rank's
/// have to take the same way as those of its peers. Cost: one queue pair, one completion queue, one
/// registered page. One thread at a time.
class loopback {
 public:
  /// On the device and domain of `port`, with whose keys memory is named. @throws error.
  loopback(const device_port& port, const config& settings);

  /// Adds to an aligned word of exposed memory; returns the old value. Waits for the device only.
  /// @throws error errc::completion_failed; errc::deadline.
  std::uint64_t fetch_add(const remote_region& own, std::size_t offset, std::uint64_t value);
  /// Sets it to `wanted` if it is `expected`; returns the old value.
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
