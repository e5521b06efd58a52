// What the end of something waited for, back to its beginning.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include <chorale/simulation/recorder.hpp>

namespace chorale::simulation {

/// A part of a critical path: what one record is on it for, or a part of that.
struct path_part {
  /// How much is known of it.
  enum class kind : std::uint8_t {
    recorded,  ///< `of.what`
    notice,    ///< of message `of.message`: from when it is in memory until rank `of.rank` has seen it
    unknown,   ///< rank `of.rank` did something that is not recorded
  };
  kind is = kind::recorded;  ///< which of these it is
  /// Its begin and end are those of the part.
  record of;
};

/// The parts follow each other without a gap, from the beginning of the window to its end.
struct critical_path {
  window of;                     ///< all of its time
  std::vector<path_part> parts;  ///< the earliest first
};

/// Whose work it is: the program of a rank (thread 0) or a helper of it.
struct processor {
  int rank = -1;             ///< whose it is
  std::uint16_t thread = 0;  ///< 0: the program; others: its helpers

  friend constexpr auto operator<=>(const processor&, const processor&) noexcept = default;
};

/// Walks back from the end of a window, where it begins with what `last` did. What a processor worked at
/// takes its time; a wait is put down to the message that ended it, and to what its sender did before it was
/// posted. A wait that no message ended, or one that is not among the records, is a part itself, and the walk
/// goes on before it.
/// @throws error errc::invalid_argument if the window ends before it begins, or records of it are missing.
[[nodiscard]] critical_path find_critical_path(const recorder& notes, const window& of, processor last);

/// The same from where the last of these phases ends: those of one call on all ranks, as
/// `recorder::last_phases` finds them. The walk ends where it comes to a rank that was not in its phase yet,
/// and the window begins there.
[[nodiscard]] critical_path find_critical_path(const recorder& notes,
                                               const std::vector<phase_record>& phases);

/// Who worked last before the end of a window, the lowest of several; rank -1 if nobody had worked yet.
[[nodiscard]] processor last_to_work(const recorder& notes, const window& of);

}  // namespace chorale::simulation
