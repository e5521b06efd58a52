// SPDX-License-Identifier: Apache-2.0
// The forms in which a simulation is shown: trace events, a schedule, words, the load of links.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <chorale/simulation/critical_path.hpp>
#include <chorale/simulation/recorder.hpp>
#include <chorale/simulation/run.hpp>

#include "../bench/output.hpp"

namespace seeing {

namespace sim = chorale::simulation;

/// Trace events, for Perfetto and chrome://tracing, and for the timelines of chorale-plot.
///
/// Writes the activity of ranks in the window, including activity that begins before or ends after it: a
/// process for each rank, with a thread for its program and each helper, and lanes for the messages that it
/// sends, if they are entirely within the window; others are counted. Precondition: no record of the window
/// is missing. `write` gets the file's text part by part.
void write_trace(const std::function<void(std::string_view)>& write, const sim::recorder& notes,
                 const sim::window& of, int ranks, const bench::facts& about);

/// A schedule in GOAL, the input of LogGOPSim.
///
/// Writes the messages entirely within the window, as transferred on the wire: a send on the rank that posted
/// each, and a receive of that size and tag on the receiver. The operations of a rank keep their order;
/// between them the rank computes for as long as it copied, combined or computed, in ns. Posting and polling
/// take no time, since they are parameters of the model. Acknowledgements are omitted. Requests that the
/// adapter answers by itself, such as reads, do not depend on the work of its rank. Precondition: no record
/// of the window is missing.
/// @returns the number of messages. @throws std::system_error naming the file if it cannot be written.
std::size_t write_goal(const std::string& file, const sim::recorder& notes, const sim::window& of, int ranks,
                       const bench::facts& about);

/// A critical path in words: the shares of activities on it, the largest first, and its messages in the order
/// of time. `of`: the name of the window. @throws std::logic_error if the parts do not add up to the whole.
std::string in_words(const sim::critical_path& path, const std::string& of);

/// Prints the links that carried data, the busiest first.
void print_links(const sim::run_result& of);

}  // namespace seeing
