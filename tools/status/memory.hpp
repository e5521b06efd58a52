// The memory in which a process tells of its communicators.
#pragma once

#include "seen.hpp"

namespace status {

/// Reads it, wherever the process has it open. Copies bytes and believes none of them: ranks, calls and
/// texts that cannot be are left out or made visible.
void read_places(process& of);

}  // namespace status
