// A simulation as trace events, for Perfetto and chrome://tracing, and for the timelines of chorale-plot.
#pragma once

#include <functional>
#include <string_view>

#include <chorale/simulation/recorder.hpp>

#include "../bench/output.hpp"

namespace seeing {

namespace sim = chorale::simulation;

/// Writes the activity of ranks in the window, including activity that begins before or ends after it: a
/// process for each rank, with a thread for its program and each helper, and lanes for the messages that it
/// sends, if they are entirely within the window; others are counted. Precondition: no record of the window
/// is missing. `write` gets the file's text part by part.
void write_trace(const std::function<void(std::string_view)>& write, const sim::recorder& notes,
                 const sim::window& of, int ranks, const bench::facts& about);

}  // namespace seeing
