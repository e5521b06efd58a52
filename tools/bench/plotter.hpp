// SPDX-License-Identifier: Apache-2.0
// chorale-plot as a child process, which makes pictures and pages of JSON.
#pragma once

#include <string>

namespace bench {

/// Runs chorale-plot with a form ("plot", "report", "timeline") on a JSON document. @returns its output
/// @throws std::runtime_error with the reason and the remedy.
std::string plotted(const std::string& form, const std::string& document);

/// @throws std::runtime_error with the remedy if something that this form needs is missing.
void need_plotter(const std::string& form);

}  // namespace bench
