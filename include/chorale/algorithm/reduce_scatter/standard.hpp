// The reduce-scatter that a communicator has if none is chosen.
#pragma once

#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>
#include <chorale/algorithm/reduce_scatter/last_arriver.hpp>

namespace chorale::reduce_scatter {

/// The fastest by the tuning table of those that combine from rank 0 upwards, so that it is the same to the
/// bit which of them it is.
struct standard : automatic<direct, last_arriver> {};

}  // namespace chorale::reduce_scatter
