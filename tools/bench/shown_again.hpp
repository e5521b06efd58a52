// chorale-bench --from: results of earlier runs, perhaps of other machines, as tables, pictures and reports.
#pragma once

#include <string>
#include <vector>

#include "files.hpp"

namespace bench {

/// Prints the rows of these files, only those of `operations` if given, and writes the requested files.
/// @throws std::runtime_error naming what is wrong.
void show_again(const std::vector<std::string>& from, const std::vector<std::string>& operations,
                const files& f);

}  // namespace bench
