// Results as one page of HTML: the machine and the run, pictures, tables. It needs no other file and no
// script.
#pragma once

#include <string>
#include <vector>

#include "result.hpp"

namespace bench {

/// The page. @throws std::runtime_error as run_gnuplot.
std::string report_html(const std::vector<named_result>& all);

}  // namespace bench
