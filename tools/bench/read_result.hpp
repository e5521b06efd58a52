// Reads results written by --json, to show them again.
#pragma once

#include <string>
#include <vector>

#include "result.hpp"

namespace bench {

/// Reads the output of as_json; ignores unknown members.
/// @throws std::runtime_error naming the file, the row and the error.
run_result read_result(const std::string& file);

/// Several results, each named by its file, or by its path if file names are equal. A single result has no
/// name.
std::vector<named_result> read_results(const std::vector<std::string>& names);

}  // namespace bench
