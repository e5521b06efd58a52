#include <chorale/calls/compiled/standard.hpp>
#include <chorale/transport/rc.hpp>

namespace chorale::calls {

CHORALE_STANDARD_ALGORITHMS(template, transport::rc);

}  // namespace chorale::calls
