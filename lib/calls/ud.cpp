#include <chorale/transport/ud.hpp>

#include "compile.hpp"

namespace chorale::calls {

template struct compile<transport::ud>;

}  // namespace chorale::calls
