// SPDX-License-Identifier: Apache-2.0
// The model of the allgathers: P4 section 2.3.
#pragma once

#include <cstddef>

namespace chorale::model {

/// The cost of a message, in microseconds. P4 prints no values.
struct hockney_costs {
  double startup = 0;  ///< ts
  double byte = 0;     ///< tw
};

/// T_rd = ts log2 p + (p - 1) m tw for p = `ranks` and m = `bytes`, a rank's block. P4 gives it for powers of
/// two. Other groups fold and unfold: ts (floor(log2 p) + 2) + (2 p - 1) m tw, since the last step brings all
/// p blocks to each rank that folded in the first.
/// @throws error errc::invalid_argument if `ranks` is below 1.
double recursive_doubling_allgather(int ranks, std::size_t bytes, const hockney_costs& costs);

/// T_ring = (p - 1) (ts + m tw).
/// @throws error errc::invalid_argument if `ranks` is below 1.
double ring_allgather(int ranks, std::size_t bytes, const hockney_costs& costs);

}  // namespace chorale::model
