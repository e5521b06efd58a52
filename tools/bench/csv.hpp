// A result as comma-separated values, for spreadsheets and data frames.
#pragma once

#include <string>

#include "result.hpp"

namespace bench {

/// First the facts, each on a line that begins with '#'; then a header; then a line for each row, with
/// exactly the numbers of the JSON file. Times are in microseconds. Missing values are empty. Texts are
/// quoted as in RFC 4180.
std::string as_csv(const run_result& all);

}  // namespace bench
