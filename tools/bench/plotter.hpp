// SPDX-License-Identifier: Apache-2.0
// chorale-plot as a child process, which makes pictures and pages of JSON.
#pragma once

#include <string>

namespace bench {

/// The form as of `chorale-plot --help` ("plot", "report", "timeline") of a document in JSON.
/// @throws std::runtime_error with the reason and the remedy.
std::string plotted(const std::string& form, const std::string& document);

/// @throws std::runtime_error with the remedy unless there is all that this form needs.
void need_plotter(const std::string& form);

}  // namespace bench
