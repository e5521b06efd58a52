// SPDX-License-Identifier: Apache-2.0
// The limits of the simulated adapter.
#pragma once

#include <cstdint>

namespace chorale::simulation::device {

inline constexpr std::uint32_t max_sge = 16;
inline constexpr std::uint32_t max_work_requests = 16384;
inline constexpr std::uint32_t max_inline_bytes = 1024;  ///< unless the machine allows more
inline constexpr std::uint32_t max_completions = 1U << 22;
inline constexpr std::uint32_t max_reads = 16;
inline constexpr std::uint64_t max_message_bytes = 1ULL << 31;
inline constexpr std::uint32_t max_regions = (1U << 16) - 1;
inline constexpr std::uint32_t plenty = 1 << 24;
inline constexpr std::uint32_t grh_bytes = 40;
/// Numbers of queue pairs; lower ones belong to subnet management, `multicast_queue_pair` stands for
/// multicast.
inline constexpr std::uint32_t first_queue_pair = 0x100;
inline constexpr std::uint32_t multicast_queue_pair = 0xffffff;
/// LIDs of hosts.
inline constexpr std::uint32_t first_lid = 1;

}  // namespace chorale::simulation::device
