// Makes one trace of the parts of all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace chorale::transport {

/// This rank's part of a group of `size` ranks is closed. True if it was the last one.
[[nodiscard]] bool close_trace_group(const std::string& folder, std::uint32_t group, int size);

/// Puts the parts of the groups in `folder` all of whose ranks have closed theirs into the trace in `file`,
/// and removes them. Where that would take long they stay, and a line on standard error says how to go on.
/// @throws error naming what cannot be read or written.
void merge_complete_trace(const std::string& folder, const std::string& file);

/// What a merge has put together.
struct merged_trace {
  std::string file;
  std::size_t parts = 0;
  std::size_t open = 0;  ///< parts of ranks that have not ended their communicators: they were killed, or run
  std::size_t records = 0;
  std::uint64_t dropped = 0;  ///< records that the parts had no room for
  std::vector<std::string> hosts;
  std::vector<std::string> remarks;  ///< about clocks, and about parts that could not be read
};

/// Puts `parts`, paths of files, all of one job, into the trace in `file`: into what is there, if that is of
/// the same job; else in its place.
/// @throws error as above, and errc::invalid_argument if parts are of several jobs.
merged_trace merge_trace(const std::vector<std::string>& parts, const std::string& file);

/// The parts in a folder, in order.
[[nodiscard]] std::vector<std::string> parts_in(const std::string& folder);

}  // namespace chorale::transport
