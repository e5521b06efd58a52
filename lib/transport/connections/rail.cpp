#include <chorale/transport/connections/rail.hpp>

namespace chorale::transport {

template class rail<inbox>;
template class rail<matched>;

}  // namespace chorale::transport
