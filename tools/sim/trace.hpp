// A simulation as a file of trace events, for Perfetto and chrome://tracing.
#pragma once

#include <string>

#include <chorale/simulation/recorder.hpp>

#include "../bench/output.hpp"

namespace seeing {

namespace sim = chorale::simulation;

/// Writes the activity of ranks in the window, including activity that begins before or ends after it: a
/// process for each rank, with a thread for its program and each helper, and lanes for the messages that it
/// sends, if they are entirely within the window; others are counted. Precondition: no record of the window
/// is missing.
/// @throws std::system_error naming the file if it cannot be written.
void write_trace(const std::string& file, const sim::recorder& notes, const sim::window& of,
                 const bench::facts& about);

}  // namespace seeing
