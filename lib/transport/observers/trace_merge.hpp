// Merges the parts of all ranks into one trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/files.hpp"

namespace chorale::transport {

/// Records that this rank's part of a group of `size` ranks is closed. True if it was the last one.
[[nodiscard]] bool close_trace_group(const detail::held_folder& folder, std::uint32_t group, int size);

/// Merges the parts of all groups in `folder` whose ranks have all closed theirs into the trace in `file`,
/// and removes them. If that would take long, they are kept, and a line on standard error says how to
/// continue. @throws error naming what cannot be read or written.
void merge_complete_trace(const detail::held_folder& folder, const std::string& file);

/// The result of a merge.
struct merged_trace {
  std::string file;
  std::size_t parts = 0;
  std::size_t open = 0;  ///< parts of ranks whose communicators have not ended: killed, or still running
  std::size_t records = 0;
  std::uint64_t dropped = 0;  ///< records that did not fit into the parts
  std::vector<std::string> hosts;
  std::vector<std::string> remarks;  ///< about clocks, and about parts that could not be read
};

/// A part that has not been read.
struct trace_place {
  const detail::held_folder* folder = nullptr;
  std::string name;
};

/// Merges `parts`, which are of one job, into the trace in `file`: adds to it if that belongs to the
/// same job, otherwise replaces it. @throws error as above, and errc::invalid_argument if the parts are of
/// several jobs.
merged_trace merge_trace(const std::vector<trace_place>& parts, const std::string& file);

/// Whether ranks make files of that name in the folder of their parts.
[[nodiscard]] bool is_of_trace(std::string_view name) noexcept;

/// The parts in a folder, sorted.
[[nodiscard]] std::vector<trace_place> parts_in(const detail::held_folder& folder);

}  // namespace chorale::transport
