// SPDX-License-Identifier: Apache-2.0
// The activity of the deferred engine in a test, which proves nothing if the engine never delayed a request.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include <chorale/verbs/device.hpp>
#include <chorale/verbs/soft_counters.hpp>

namespace multirank {

/// Rank 0 prints the engine's counters, if this is soft0 with the deferred engine. @throws std::runtime_error
/// if the engine did nothing, or found a send buffer that was changed too early.
template <class Comm>
void report_engine(Comm& comm) {
  const char* engine = std::getenv("CHORALE_SOFT_ENGINE");
  if (!comm.transport().device().is_soft() || engine == nullptr || std::string_view{engine} != "deferred")
    return;
  const auto c = chorale::verbs::read_soft_counters(comm.transport().device().native());
  const char* seed = std::getenv("CHORALE_SOFT_SEED");
  if (comm.rank() == 0) {
    fmt::print(
        stderr,
        "deferred engine, CHORALE_SOFT_SEED={}: {} requests held, {} overtook reads, {} writes scattered, "
        "{} datagrams reordered, {} lost, {} duplicated, {} of {} contexts missed\n",
        seed == nullptr ? "1" : seed, c.held, c.overtaken, c.scattered, c.reordered, c.lost, c.duplicated,
        c.context_misses, c.context_hits + c.context_misses);
  }
  if (c.changed != 0)
    throw std::runtime_error(fmt::format(
        "rank {}: {} send buffers changed before their requests were executed", comm.rank(), c.changed));
  if (comm.size() > 1 && c.held == 0) throw std::runtime_error("the deferred engine held nothing");
}

}  // namespace multirank
