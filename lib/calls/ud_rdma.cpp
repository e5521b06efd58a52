#include <chorale/transport/ud_rdma.hpp>

#include "compile.hpp"

namespace chorale::calls {

template struct compile<transport::ud_rdma>;

}  // namespace chorale::calls
