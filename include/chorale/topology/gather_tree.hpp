// SPDX-License-Identifier: Apache-2.0
// Gather tree with a limited fan-in.
#pragma once

#include <chorale/topology/degree_k.hpp>

namespace chorale::topology {

/// The gather phase of RGM: a tree of fan-in l = 2^m - 1 (7 did best), through which signals of all N ranks
/// reach rank 0 in ceil(log_{l+1} N) levels. It is the degree-k tree with k = l. Source: P1 section 3.3.
using gather_tree = degree_k;

/// The fan-in that P1 measured to be best (figure 6).
inline constexpr int best_fan_in = 7;

}  // namespace chorale::topology
