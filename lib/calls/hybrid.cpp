#include <chorale/calls/compiled/standard.hpp>
#include <chorale/transport/hybrid.hpp>

namespace chorale::calls {

template struct standard_algorithms<transport::hybrid_paths>;

}  // namespace chorale::calls
