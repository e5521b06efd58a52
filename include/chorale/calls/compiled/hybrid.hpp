// The library has the standard algorithms over `transport::hybrid`: with this header nobody else compiles
// them.
#pragma once

#include <chorale/calls/compiled/standard.hpp>
#include <chorale/transport/hybrid.hpp>

namespace chorale::calls {

CHORALE_STANDARD_ALGORITHMS(extern template, transport::hybrid_paths);

}  // namespace chorale::calls
