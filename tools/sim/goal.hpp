// The messages of a simulation as a schedule in GOAL, which LogGOPSim takes.
#pragma once

#include <string>

#include <chorale/simulation/recorder.hpp>

#include "../bench/output.hpp"

namespace seeing {

namespace sim = chorale::simulation;

/// Writes the messages of which all is in the window, as they went over the wire: a send on the rank that
/// posted each, and a receive of that size and tag on the rank that got it. Those of a rank follow each other
/// as they did here; between them it computes for as long as it copied, combined or computed, in ns. Posting
/// and looking take no time, since that is a parameter of the model. Acknowledgements are left out. What the
/// adapter answers by itself, as reads, has no dependency on what its rank does. No record of the window may
/// be missing.
/// @returns how many messages it has. @throws std::system_error naming the file if it cannot be written.
std::size_t write_goal(const std::string& file, const sim::recorder& notes, const sim::window& of, int ranks,
                       const bench::facts& about);

}  // namespace seeing
