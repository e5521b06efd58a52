// SPDX-License-Identifier: Apache-2.0
// Describes what ranks are doing: for stall reports and deadlines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <chorale/core/config.hpp>
#include <chorale/core/stall_report.hpp>

#include "../status/status_messages.hpp"

namespace chorale::transport {

/// The state of `rank` according to its answer, if any.
[[nodiscard]] stall_report::rank_state state_of(int rank, const std::optional<status_answer>& answer);
/// One clause per rank, each beginning with "; ", ranks that do not wait first; at most eight.
[[nodiscard]] std::string describe_ranks(std::vector<stall_report::rank_state> ranks);
/// "rank N", or "any rank" if negative.
[[nodiscard]] std::string name_of_awaited(int rank);
/// Numbers separated by commas; at most sixteen.
[[nodiscard]] std::string list_of(const std::vector<int>& ranks);
/// A clause, beginning with "; ", if a wrong setting of the order of writes may keep a wait from ending;
/// otherwise empty.
[[nodiscard]] std::string order_hint(const config& settings);

}  // namespace chorale::transport
