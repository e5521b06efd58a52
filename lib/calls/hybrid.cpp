#include <chorale/calls/compiled/standard.hpp>
#include <chorale/transport/hybrid.hpp>

namespace chorale::calls {

CHORALE_STANDARD_ALGORITHMS(template, transport::hybrid_paths);

}  // namespace chorale::calls
