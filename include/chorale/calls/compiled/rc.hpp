// The library has the standard algorithms over `transport::rc`: with this header nobody else compiles them.
#pragma once

#include <chorale/calls/compiled/standard.hpp>
#include <chorale/transport/rc.hpp>

namespace chorale::calls {

extern template struct standard_algorithms<transport::rc>;

}  // namespace chorale::calls
