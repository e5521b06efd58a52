#include <chorale/transport/rc.hpp>

#include "compile.hpp"

namespace chorale::calls {

template struct compile<transport::rc>;

}  // namespace chorale::calls
