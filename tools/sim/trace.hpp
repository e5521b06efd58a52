// A simulation as a file of trace events, which Perfetto and chrome://tracing show.
#pragma once

#include <string>

#include <chorale/simulation/recorder.hpp>

#include "../bench/output.hpp"

namespace seeing {

namespace sim = chorale::simulation;

/// Writes what ranks do in the window, or what of it reaches into it: a process for each rank, with a thread
/// for its program and each helper, and lanes for the messages that it sends and that lie in the window with
/// all of their way; others are counted. No record of it may be missing.
/// @throws std::system_error naming the file if it cannot be written.
void write_trace(const std::string& file, const sim::recorder& notes, const sim::window& of,
                 const bench::facts& about);

}  // namespace seeing
