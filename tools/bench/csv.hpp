// A result as comma-separated values, for spreadsheets and data frames.
#pragma once

#include <string>

#include "result.hpp"

namespace bench {

/// First the facts, each in a line behind '#'; then a head; then a line for each row, with the numbers of
/// the JSON file to the last digit. Times are microseconds. What a row does not have is empty. Texts are
/// quoted as RFC 4180 says.
std::string as_csv(const run_result& all);

}  // namespace bench
