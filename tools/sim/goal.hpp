// The messages of a simulation as a schedule in GOAL, the input of LogGOPSim.
#pragma once

#include <string>

#include <chorale/simulation/recorder.hpp>

#include "../bench/output.hpp"

namespace seeing {

namespace sim = chorale::simulation;

/// Writes the messages entirely within the window, as transferred on the wire: a send on the rank that posted
/// each, and a receive of that size and tag on the receiver. The operations of a rank keep their order;
/// between them the rank computes for as long as it copied, combined or computed, in ns. Posting and polling
/// take no time, since they are parameters of the model. Acknowledgements are omitted. Requests that the
/// adapter answers by itself, such as reads, do not depend on the work of its rank. Precondition: no record
/// of the window is missing.
/// @returns the number of messages. @throws std::system_error naming the file if it cannot be written.
std::size_t write_goal(const std::string& file, const sim::recorder& notes, const sim::window& of, int ranks,
                       const bench::facts& about);

}  // namespace seeing
