// Ranks that do something unusual to their own process.
#pragma once

#include <string_view>

namespace robustness {

/// Runs calls on all ranks before and after rank 0, or all ranks, have done `what`; `program` is this
/// program, for further processes. Each rank prints its outcome on one line: "rank R: right", or an error.
/// Returns the exit status.
int run_edge(std::string_view what, const char* program);

}  // namespace robustness
