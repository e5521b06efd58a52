// SPDX-License-Identifier: Apache-2.0
// The layout of the memory that chorale-status reads from other processes.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <chorale/core/clock.hpp>
#include <chorale/transport/status/status.hpp>

namespace chorale::transport {

/// The last call before the service thread found a rank outside all calls, and the time when it first did.
struct absence {
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  std::atomic<std::uint64_t> after{never};
  std::atomic<clock::rep> since{0};
};

/// One rank of one communicator. Its process writes it with plain stores; readers copy the bytes and trust
/// none of them.
struct alignas(64) status_slot {
  static constexpr std::size_t most_here = 4096;
  /// Value of `waited_call` before the first wait.
  static constexpr std::uint64_t no_call = ~std::uint64_t{0};

  status_page page;
  /// Odd while the rest is being written, 0 if the slot is unused, otherwise a different number for each
  /// state.
  ///
  /// Writer: the process of the slot: writes an odd number, the rest, then an even number.
  /// Reader: chorale-status: copies the slot twice; the first copy is valid if both have the same number.
  /// Pairs: the release of the even number, and the fence after the odd number, with the kernel's copies.
  std::atomic<std::uint32_t> version{0};
  /// The thread (gettid(2)) that made the communicator, or last waited in it.
  std::atomic<std::int32_t> thread{0};
  /// The call of this rank's latest wait, and its beginning in nanoseconds of the clock.
  std::atomic<std::uint64_t> waited_call{no_call};
  std::atomic<clock::rep> waited_since{0};
  absence absent;

  std::uint64_t group = 0;  ///< the same on all ranks of a communicator, and unique to it
  std::int32_t rank = 0;
  std::int32_t size = 0;
  std::int32_t hosts = 0;
  std::int32_t failed = 0;  ///< 1: `failure` says why
  std::array<char, 48> label{};
  std::array<char, 64> host{};
  std::array<char, 400> failure{};
  /// Bit r: the process of rank r is on this host and visible; for the first `most_here` ranks.
  std::array<std::uint64_t, most_here / 64> here{};
};

/// The beginning of the memory. Slots follow at distance `slot_bytes`; the header occupies one slot.
struct status_header {
  static constexpr std::uint64_t expected_magic = 0x7375746174734843ULL;  // "CHstatus"
  static constexpr std::uint32_t expected_layout = 2;

  std::uint64_t magic = expected_magic;
  std::uint32_t layout = expected_layout;
  std::uint32_t slot_bytes = 0;
  std::uint32_t slots = 0;
  std::int32_t pid = 0;                       ///< of the process, in its own PID namespace
  std::atomic<std::uint32_t> unpublished{0};  ///< communicators that found no free slot
};

inline constexpr const char* status_memory_name = "chorale-status";
inline constexpr std::size_t status_slot_bytes = 2048;
inline constexpr std::size_t status_slots = 511;
inline constexpr std::size_t status_memory_bytes = (status_slots + 1) * status_slot_bytes;
static_assert(sizeof(status_slot) <= status_slot_bytes && sizeof(status_header) <= status_slot_bytes);

}  // namespace chorale::transport
