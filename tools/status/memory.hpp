// The memory in which a process publishes its communicators.
#pragma once

#include "seen.hpp"

namespace status {

/// Reads that memory of a process, by whatever descriptor it is open. Copies the bytes and validates them:
/// invalid ranks and calls are omitted, control characters in texts made visible.
void read_places(process& of);

}  // namespace status
