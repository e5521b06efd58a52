// The default reduce-scatter of a communicator.
#pragma once

#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>
#include <chorale/algorithm/reduce_scatter/last_arriver.hpp>

namespace chorale::reduce_scatter {

/// The fastest of these, chosen by `automatic`. All combine from rank 0 upwards, so the bits do not depend on
/// the choice.
struct standard : automatic<direct, last_arriver> {};

}  // namespace chorale::reduce_scatter
