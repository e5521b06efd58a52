// SPDX-License-Identifier: Apache-2.0
// One run: operation by operation and size by size, with table and progress.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "loop.hpp"
#include "options.hpp"
#include "output.hpp"

namespace bench {

/// The existing contestants of one operation, in the order of the table.
using field = std::function<std::vector<contestant*>(const std::string& operation)>;

/// Performs the measurements of `o`; rank 0 prints. Collective.
/// @returns all rows, on every rank.
std::vector<row> run_session(const common_options& o, const facts& about, team& all, const field& of,
                             const sample_hooks& hooks);

}  // namespace bench
