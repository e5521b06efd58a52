// What belongs to a result of this host: without it nobody knows later what was measured.
#pragma once

#include "result.hpp"

namespace bench {

/// Host, processor, cores, caches, memory, kernel, and whether the machine is a virtual one. What cannot be
/// found out is left out.
facts machine_facts();

/// The command line, the settings of the environment, the date (UTC) and the load of the host.
facts run_facts();

}  // namespace bench
