// The library has the standard algorithms over `transport::ud`: with this header nobody else compiles them.
#pragma once

#include <chorale/calls/compiled/standard.hpp>
#include <chorale/transport/ud.hpp>

namespace chorale::calls {

extern template struct standard_algorithms<transport::ud>;

}  // namespace chorale::calls
