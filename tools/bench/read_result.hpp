// Results that were written by --json, to be shown again.
#pragma once

#include <string>
#include <vector>

#include "result.hpp"

namespace bench {

/// Reads what as_json writes; what else is there is left alone.
/// @throws std::runtime_error naming the file, the row and what is wrong with it.
run_result read_result(const std::string& file);

/// Several, each with the name of its file, or its path where names are the same. Of one alone: no name.
std::vector<named_result> read_results(const std::vector<std::string>& names);

}  // namespace bench
