#include <chorale/transport/rc.hpp>

namespace chorale::transport {

template class one_rail<rc_kind>;

}  // namespace chorale::transport
