// Which limit of this process was in the way where errno does not tell, for the remedy that an error names.
#pragma once

#include <string>

namespace chorale {

/// After ENOMEM: the limits of memory that this process has, each with its value, or what else there is to
/// look at. Thread-safe.
std::string memory_limits();

/// Why no thread could be started. pthread_create(3) has EAGAIN for too many threads and for a stack that
/// there is no memory for: this tries to get such memory. Thread-safe.
std::string why_no_thread();

}  // namespace chorale
