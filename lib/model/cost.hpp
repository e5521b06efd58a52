// What algorithms cost by formula, and the choice by that.
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

/// What messages cost, in microseconds: Hockney's model (ts and tw of P4 section 2.3) with a price for each
/// message that one rank takes or sends beside others of the same step.
struct message_cost {
  double start = 0.25;      ///< a message, besides its bytes
  double byte = 0.0001;     ///< a byte of it
  double combine = 0.0001;  ///< a byte that is reduced
  /// A further message of the same rank and step: Ts of P2 section 5.2, and in its proportion to the 8.94 us
  /// that P2's parameters make of `start` (Tm + Td + 2 (Ts + Tn)).
  double further = 0.056;
};

/// Microseconds of `algorithm` (its `type_name`) for `bytes` of payload on `ranks` ranks that all have a
/// core; nothing if there is no formula for it. Bytes are those of one block for operations of blocks.
std::optional<double> estimate(operation what, std::string_view algorithm, int ranks, std::size_t bytes,
                               const message_cost& cost = {});

/// Which of `algorithms` (type names) has the least estimate for which sizes: rules in ascending order of
/// `up_to`, the last without limit; the limits are exact to the byte. Of equals the first is chosen, and what
/// differs by rounding is equal, so that all ranks choose alike. No rules if there is no formula for any.
std::vector<rule> rules_by_formula(operation what, int ranks, std::span<const std::string> algorithms,
                                   const message_cost& cost = {});

}  // namespace chorale::model
