#include <chorale/calls/compiled/standard.hpp>
#include <chorale/transport/ud.hpp>

namespace chorale::calls {

CHORALE_STANDARD_ALGORITHMS(template, transport::ud);

}  // namespace chorale::calls
