// SPDX-License-Identifier: Apache-2.0
// The cost of algorithms by formula, and the choice by that cost.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/model/tuning.hpp>

namespace chorale::model {

/// The cost of messages, in microseconds: Hockney's model (ts and tw of P4 section 2.3), and a price for each
/// further message that a rank receives or sends in the same step.
struct message_cost {
  double start = 0.25;      ///< of a message, besides its bytes
  double byte = 0.0001;     ///< of each byte of it
  double combine = 0.0001;  ///< of each byte that is reduced
  /// A further message of the same rank and step: Ts of P2 section 5.2. It has the same ratio to `start` as
  /// Ts has in P2 to the 8.94 us of Tm + Td + 2 (Ts + Tn).
  double further = 0.056;
};

/// Microseconds of `algorithm` (its `type_name`) for `bytes` of payload on `ranks` ranks with a core each;
/// none without a formula for it. For operations on blocks, `bytes` are those of one block.
std::optional<double> estimate(operation what, std::string_view algorithm, int ranks, std::size_t bytes,
                               const message_cost& cost = {});

/// The one of `algorithms` (type names) with the least estimate for each size: rules in ascending order of
/// `up_to`, the last without limit; limits are exact to the byte. The first of equals is chosen; differences
/// by rounding count as equal, so that all ranks choose alike. No rules if there is no formula for any.
std::vector<rule> rules_by_formula(operation what, int ranks, std::span<const std::string> algorithms,
                                   const message_cost& cost = {});

}  // namespace chorale::model
