// What algorithms cost by formula.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include <chorale/core/call.hpp>

namespace chorale::model {

/// What messages cost: `start` microseconds each and `byte` microseconds for each byte of them (Hockney's
/// model; ts and tw of P4 section 2.3), and `combine` for each byte that is reduced.
struct message_cost {
  double start = 0.25;
  double byte = 0.0001;
  double combine = 0.0001;
};

/// Microseconds of `algorithm` (its `type_name`) for `bytes` of payload on `ranks` ranks that all have a
/// core; nothing if there is no formula for it. Bytes are those of one block for operations of blocks.
std::optional<double> estimate(operation what, std::string_view algorithm, int ranks, std::size_t bytes,
                               const message_cost& cost = {});

}  // namespace chorale::model
