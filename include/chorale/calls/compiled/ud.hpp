// The library has the standard algorithms over `transport::ud`: with this header nobody else compiles them.
#pragma once

#include <chorale/calls/compiled/standard.hpp>
#include <chorale/transport/ud.hpp>

namespace chorale::calls {

CHORALE_STANDARD_ALGORITHMS(extern template, transport::ud);

}  // namespace chorale::calls
