#include <chorale/calls/compiled/standard.hpp>
#include <chorale/transport/hybrid.hpp>

namespace chorale::calls {

template struct standard_algorithms<transport::assembled<transport::hybrid_parts>>;

}  // namespace chorale::calls
