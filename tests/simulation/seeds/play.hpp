// What each rank of a schedule does, and what became of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <chorale/simulation/group.hpp>
#include <chorale/simulation/time.hpp>

#include "schedule.hpp"

namespace seeds {

/// What one rank has seen.
struct fate {
  enum class kind { unfinished, well, failed, wrong };
  kind end = kind::unfinished;
  std::size_t calls = 0;  ///< that ended well
  chorale::simulation::instant when{};
  int code = 0;            ///< of failed: an errc, or 0
  std::vector<int> names;  ///< of failed: the ranks that the error names
  bool in_part = false;    ///< of failed: in a communicator of a split, of which all of these are members
  std::string text;
  std::size_t registered = 0;  ///< most bytes of its own
};

/// The fates of all ranks, and what they did in the order in which they did it.
struct history {
  std::vector<fate> ranks;
  std::string events;  ///< a line each, the oldest forgotten
  std::uint64_t hash = 0;

  void note(int rank, const char* what, std::size_t call);
};

/// Plays a rank of a schedule.
void play(chorale::simulation::group& group, const schedule& s, history& all);

}  // namespace seeds
