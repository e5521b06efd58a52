// SPDX-License-Identifier: Apache-2.0
// The set-ups of --set-ups: contestants with their own settings, for experiments of the papers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <chorale/core/config.hpp>

#include "contestants.hpp"
#include "loop.hpp"
#include "result.hpp"

namespace bench {

/// An algorithm over a transport, under a name that is unique in its set-up.
struct named_contestant {
  std::string name;
  std::string transport;
  std::string algorithm;  ///< its full name, as in --list
  std::span<const memory_use> memory;
  chorale::config settings;  ///< from the environment, overridden by the file
};

/// Contestants of one operation, measured alternately at each size.
struct set_up {
  std::string name;
  std::string operation;
  bench::timing timing = bench::timing::each_call;
  std::vector<std::size_t> sizes;  ///< bytes; none for a barrier
  std::vector<named_contestant> contestants;
};

/// Reads {"set_ups": [{"name", "operation", "timing", "sizes": [...], "contestants": [{"name", "transport",
/// "algorithm", "memory", "settings": {"CHORALE_...": "..."}}]}]}. "timing" is "each call", "back to back" or
/// "last leaf" (of a broadcast), "memory" is "one buffer", "in turns" or "fresh" (as of --fresh); both may be
/// left out, and so may "settings".
/// @throws std::runtime_error naming the file, the set-up, the contestant and what is wrong.
std::vector<set_up> read_set_ups(const std::string& file);

/// Measures and prints them one after the other. Collective. A contestant that the device cannot run (such as
/// one that needs multicast) has no result, and rank 0 prints that.
/// @returns the same on every rank.
std::vector<result_row> measure_set_ups(const std::vector<set_up>& all_of_them, const facts& about,
                                        const job& in, const limits& l, const sample_hooks& hooks);

}  // namespace bench
