#include <chorale/calls/compiled/standard.hpp>
#include <chorale/transport/rc.hpp>

namespace chorale::calls {

template struct standard_algorithms<transport::rc>;

}  // namespace chorale::calls
