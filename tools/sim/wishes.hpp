// What chorale-sim is to show of what happened, besides times.
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
  std::string stretch;  ///< "call", "sample", "all" or "FROM,TO"; empty: as is usual for each
  std::size_t records = sim::recorder::usual_bound;

  /// Whether files are to be written.
  [[nodiscard]] bool writes() const noexcept { return !trace.empty() || !timeline.empty() || !goal.empty(); }
  /// Whether anything is to be noted.
  [[nodiscard]] bool any() const noexcept { return critical_path || writes(); }
};

void add_options(CLI::App& app, wishes& w);

/// Tries whether files can be written, before the run. @returns what is wrong, empty if nothing is.
std::string find_fault(const wishes& w, int ranks);

/// What `w.stretch` means, if it is "FROM,TO" in microseconds; an empty window if it is not.
/// @throws std::invalid_argument saying what it has to be.
sim::window parse_window(const std::string& text);

}  // namespace seeing
