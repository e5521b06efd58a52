// A request as a recorder knows it, on its whole way.
#pragma once

#include <cstdint>

#include <chorale/simulation/recorder.hpp>

namespace chorale::simulation {
class scheduler;
struct arrival;
}  // namespace chorale::simulation

namespace chorale::simulation::device {

class hca;

/// What goes along with a request, its message and the answer to that. Each stage begins where the one
/// before it ended.
struct traced {
  std::uint64_t number = 0;  ///< of the message; 0: nobody takes notes
  int rank = -1;             ///< who posted it
  int peer = -1;             ///< who is to get it
  std::uint16_t thread = 0;  ///< of that rank
  instant since{};           ///< when its last stage ended
};

/// The rank that has made that queue pair; -1 if there is none.
[[nodiscard]] int rank_behind(const hca* at, std::uint32_t queue_pair) noexcept;

/// One stage ends at `until`, or where it began if that is later.
void note_stage(scheduler& time, traced& of, activity what, std::uint64_t bytes, instant until) noexcept;
/// A message is now where it was sent to, and is what the target may have waited for; `when` it was at the
/// adapter.
void note_delivery(scheduler& time, traced& of, std::uint64_t bytes, const arrival& when) noexcept;
/// Answers begin: from now on `of` is of the answer, which leaves at `leaves`. That may have been before now.
void note_answer(scheduler& time, traced& of, std::uint64_t bytes, instant leaves) noexcept;
/// An answer is now back at the requester, likewise.
void note_answered(scheduler& time, traced& of, std::uint64_t bytes, const arrival& when) noexcept;

}  // namespace chorale::simulation::device
