#include <chorale/calls/compiled/standard.hpp>
#include <chorale/transport/ud.hpp>

namespace chorale::calls {

template struct standard_algorithms<transport::ud>;

}  // namespace chorale::calls
