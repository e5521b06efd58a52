// The facts about this host and run that make a result understandable later.
#pragma once

#include "result.hpp"

namespace bench {

/// Host, processor, cores, caches, memory, kernel, and whether the machine is a virtual one. Unknown facts
/// are omitted.
facts machine_facts();

/// The command line, the settings of the environment, the date (UTC) and the load of the host.
facts run_facts();

}  // namespace bench
