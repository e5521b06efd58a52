// What ranks are doing, in words: for stall reports and deadlines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <chorale/core/stall_report.hpp>

#include "status_messages.hpp"

namespace chorale::transport {

/// What `rank` has answered, if it has.
[[nodiscard]] stall_report::rank_state state_of(int rank, const std::optional<status_answer>& answer);
/// Each of the ranks in a clause that begins with "; ", those that wait for nobody first; eight of them at
/// most.
[[nodiscard]] std::string describe_ranks(std::vector<stall_report::rank_state> ranks);
/// "any rank" if it is negative.
[[nodiscard]] std::string name_of_awaited(int rank);
/// Numbers, with commas; sixteen of them at most.
[[nodiscard]] std::string list_of(const std::vector<int>& ranks);

}  // namespace chorale::transport
