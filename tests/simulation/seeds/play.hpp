// SPDX-License-Identifier: Apache-2.0
// The actions of each rank of a schedule, and their outcome.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <chorale/simulation/group.hpp>
#include <chorale/simulation/time.hpp>

#include "schedule.hpp"

namespace seeds {

/// The outcome of one rank.
struct fate {
  enum class kind { unfinished, well, failed, wrong };
  kind end = kind::unfinished;
  std::size_t calls = 0;  ///< that succeeded
  chorale::simulation::instant when{};
  int code = 0;            ///< if failed: an errc, or 0
  std::vector<int> names;  ///< if failed: the ranks that the error names
  bool in_part = false;    ///< if failed: in a communicator made by split, whose members these are
  std::string text;
  std::size_t registered = 0;  ///< the most bytes of the rank's own memory
};

/// The outcomes of all ranks, and their actions in order.
struct history {
  std::vector<fate> ranks;
  std::string events;  ///< one per line; the oldest are dropped
  std::uint64_t hash = 0;

  void note(int rank, const char* what, std::size_t call);
};

/// Plays a rank of a schedule.
void play(chorale::simulation::group& group, const schedule& s, history& all);

}  // namespace seeds
