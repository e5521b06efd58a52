// SPDX-License-Identifier: Apache-2.0
// A request as a recorder sees it, from its post to its answer.
#pragma once

#include <cstdint>

#include <chorale/simulation/recorder.hpp>

namespace chorale::simulation {
class scheduler;
struct arrival;
}  // namespace chorale::simulation

namespace chorale::simulation::device {

class hca;

/// Travels with a request, its message and the answer. Each stage begins where the one before it ended.
struct traced {
  std::uint64_t number = 0;  ///< of the message; 0: nothing is recorded
  int rank = -1;             ///< the sender
  int peer = -1;             ///< the receiver
  std::uint16_t thread = 0;  ///< of the posting rank
  instant since{};           ///< when the last stage ended
};

/// The rank that has made that queue pair; -1 if there is none.
[[nodiscard]] int rank_behind(const hca* at, std::uint32_t queue_pair) noexcept;

/// Ends a stage at `until`, or at its begin if that is later.
void note_stage(scheduler& time, traced& of, activity what, std::uint64_t bytes, instant until) noexcept;
/// A message is now at its target, which may be waiting for it; `when`: its arrival at the adapter.
void note_delivery(scheduler& time, traced& of, std::uint64_t bytes, const arrival& when) noexcept;
/// The answer begins: from now on `of` describes the answer, which leaves at `leaves`, possibly before now.
void note_answer(scheduler& time, traced& of, std::uint64_t bytes, instant leaves) noexcept;
/// An answer is now back at the requester; `when`: its arrival at the adapter.
void note_answered(scheduler& time, traced& of, std::uint64_t bytes, const arrival& when) noexcept;

}  // namespace chorale::simulation::device
