// What is left of a bootstrap group where templates end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>

#include <chorale/bootstrap/concept.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/lean_functional.hpp>

namespace chorale::transport {

/// A bootstrap group of any type, which must outlive it. It has the errors and the thread safety of the
/// group.
struct group_view {
  std::uint64_t headers = 0;  ///< of which binary interface the caller's headers were
  int rank = 0;
  int size = 1;
  int local_rank = 0;
  // Texts take memory: they are asked for where a failure can be told to the other ranks.
  std::function<std::string()> job;
  std::function<std::string()> launched;
  /// What the algorithms of all ranks have to be; empty without a communicator.
  std::function<std::string()> composition;
  std::function<bootstrap::cards(std::span<const std::byte>)> exchange;

  template <bootstrap::group G>
  static group_view of(G& group, const config& c, std::uint64_t headers) {
    return {headers,
            group.rank(),
            group.size(),
            bootstrap::local_rank_of(group),
            [&group] { return group.job(); },
            [&group] { return group.describe(); },
            [&group] { return bootstrap::composition_of(group); },
            [&group, deadline = c.deadline](std::span<const std::byte> mine) {
              return group.exchange(mine, deadline);
            }};
  }
};

/// What a rank throws that cannot make its communicator, for a reason that names no rank: `why`, as
/// `reason_of` has it. Thread-safe.
[[nodiscard]] error set_up_failure(int rank, int size, std::error_code code, const std::string& why);

}  // namespace chorale::transport
