// SPDX-License-Identifier: Apache-2.0
// The critical path to an event: what determined its time.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include <chorale/simulation/recorder.hpp>

namespace chorale::simulation {

/// A part of a critical path: one record, or a part of it.
struct critical_path_part {
  /// What is known about the part.
  enum class kind : std::uint8_t {
    recorded,  ///< activity `of.what`
    notice,    ///< message `of.message`, from its arrival in memory until rank `of.rank` has seen it
    unknown,   ///< rank `of.rank`, in an activity without a record
  };
  kind is = kind::recorded;  ///< which of these applies
  /// Its begin and end are those of the part.
  record of;
};

/// The parts cover the window from its beginning to its end without a gap.
struct critical_path {
  window of;                              ///< the time that the parts cover
  std::vector<critical_path_part> parts;  ///< the earliest first
};

/// The program of a rank (thread 0), or one of its helpers.
struct processor {
  int rank = -1;             ///< the rank
  std::uint16_t thread = 0;  ///< 0: the program; others: its helpers

  friend constexpr auto operator<=>(const processor&, const processor&) noexcept = default;
};

/// Walks back from the end of a window, starting with what `last` did. A processor's work accounts for its
/// own time; a wait is attributed to the message that ended it, and to the sender's work before it posted the
/// message. A wait that ended without a message, or with one that has no record, is a part of its own, and
/// the walk continues before it.
/// @throws error errc::invalid_argument if the window ends before it begins, or if some of its records are
/// missing.
[[nodiscard]] critical_path find_critical_path(const recorder& notes, const window& of, processor last);

/// The same from the end of the last of these phases, which belong to one call on all ranks, as
/// `recorder::last_phases` returns them. The walk ends, and the window begins, where it reaches a rank that
/// had not entered its phase.
[[nodiscard]] critical_path find_critical_path(const recorder& notes,
                                               const std::vector<phase_record>& phases);

/// The processor that worked last before the end of a window, the lowest of several; rank -1 if none had
/// worked yet.
[[nodiscard]] processor last_to_work(const recorder& notes, const window& of);

}  // namespace chorale::simulation
