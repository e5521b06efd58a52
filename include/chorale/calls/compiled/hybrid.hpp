// The library has the standard algorithms over `transport::hybrid`: with this header nobody else compiles
// them.
#pragma once

#include <chorale/calls/compiled/standard.hpp>
#include <chorale/transport/hybrid.hpp>

namespace chorale::calls {

extern template struct standard_algorithms<transport::assembled<transport::hybrid_parts>>;

}  // namespace chorale::calls
