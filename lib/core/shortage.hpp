// SPDX-License-Identifier: Apache-2.0
// Finds the limit of this process that caused a failure, if errno does not tell, for the remedy in an error's
// text.
#pragma once

#include <string>

namespace chorale {

/// After ENOMEM: the memory limits of this process, each with its value, or other settings to check.
/// Thread-safe.
std::string memory_limits();

/// Why no thread could be started. pthread_create(3) returns EAGAIN both for too many threads and for lack of
/// memory for the stack; to distinguish them, this tries to allocate such memory. Thread-safe.
std::string why_no_thread();

}  // namespace chorale
