// SPDX-License-Identifier: Apache-2.0
// The requests to chorale-sim for more than times.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

#include <chorale/simulation/recorder.hpp>

namespace seeing {

namespace sim = chorale::simulation;

struct wishes {
  std::string trace;
  std::string timeline;
  std::string goal;
  bool critical_path = false;
  std::string stretch;  ///< "call", "sample", "all" or "FROM,TO"; empty: the default of each output
  std::size_t records = sim::recorder::usual_bound;

  /// Whether files are requested.
  [[nodiscard]] bool writes() const noexcept { return !trace.empty() || !timeline.empty() || !goal.empty(); }
  /// Whether records are needed.
  [[nodiscard]] bool any() const noexcept { return critical_path || writes(); }
};

void add_options(CLI::App& app, wishes& w);

/// Checks before the run whether the files can be written. @returns the error; empty if there is none.
std::string find_fault(const wishes& w, int ranks);

/// The window of a text "FROM,TO" in microseconds; an empty window for other texts.
/// @throws std::invalid_argument naming the expected form.
sim::window parse_window(const std::string& text);

}  // namespace seeing
