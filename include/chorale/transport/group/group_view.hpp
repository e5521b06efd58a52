// SPDX-License-Identifier: Apache-2.0
// A type-erased bootstrap group, for code that is not a template.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <system_error>

#include <chorale/bootstrap/concept.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/error.hpp>

namespace chorale::transport {

/// Where a rank runs, and how it was started. Communicators that are split from another keep it.
struct location {
  int local_rank = 0;         ///< number among the ranks of the job on its host
  std::uint64_t place = 0;    ///< equal for ranks of one place among those of a host; 0: not known yet
  bool is_singleton = false;  ///< started without a launcher
};

/// A bootstrap group of any type, which must outlive it. Errors and thread safety as for the group.
struct group_view {
  int rank = 0;
  int size = 1;
  location where;
  // Functions, since making these texts allocates memory: they are called where a failure can be reported to
  // the other ranks.
  std::function<std::string()> job;
  std::function<std::string()> launched;
  /// The algorithms, which must be the same on all ranks; empty without a communicator.
  std::function<std::string()> composition;
  std::function<bootstrap::cards(std::span<const std::byte>)> exchange;

  template <bootstrap::group Group>
  static group_view of(Group& group, const config& c) {
    return {group.rank(),
            group.size(),
            {bootstrap::local_rank_of(group), 0, bootstrap::is_singleton(group)},
            [&group] { return group.job(); },
            [&group] { return group.describe(); },
            [&group] { return bootstrap::composition_of(group); },
            [&group, deadline = c.deadline](std::span<const std::byte> mine) {
              return group.exchange(mine, deadline);
            }};
  }
};

/// The error of a rank that cannot make its communicator for a reason that names no rank: `why`, as returned
/// by `reason_of`. Thread-safe.
[[nodiscard]] error set_up_failure(int rank, int size, std::error_code code, const std::string& why);

}  // namespace chorale::transport
