// chorale-bench --from: results of earlier runs, perhaps of other machines, as tables, pictures and reports.
#pragma once

#include <string>
#include <vector>

#include "files.hpp"

namespace bench {

/// Shows the rows of these files, only those of `operations` if there are any, and writes files of them.
/// @throws std::runtime_error naming what is wrong.
void show_again(const std::vector<std::string>& from, const std::vector<std::string>& operations,
                const files& f);

}  // namespace bench
