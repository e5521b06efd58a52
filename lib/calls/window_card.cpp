// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <chorale/calls/window_card.hpp>
#include <chorale/core/operators.hpp>
#include <chorale/core/types.hpp>

#include "../core/printable.hpp"
#include "../core/sent_code.hpp"

namespace chorale::calls {
namespace {

std::exception_ptr note(window_card& mine, int rank, const error& e) {
  mine.failure = code_to_send(e.code());
  const std::string reason = e.reason();
  reason.copy(mine.why, window_card::text_bytes);
  return std::make_exception_ptr(
      error{e.code(), fmt::format("window on rank {}: {}", rank, reason), e.ranks()});
}

}  // namespace

std::exception_ptr note_failure(window_card& mine, int rank) noexcept {
  try {
    try {
      throw;
    } catch (const error& e) {
      return note(mine, rank, e);
    } catch (const std::bad_alloc&) {
      return note(mine, rank,
                  {std::make_error_code(std::errc::not_enough_memory),
                   "there is no memory left for its notification ids"});
    } catch (const std::exception& e) {
      return note(mine, rank, {errc::verbs_failed, e.what()});
    }
  } catch (...) {
    mine.failure = static_cast<int>(errc::verbs_failed);
    std::string_view{"there is no memory left, not even to report for what"}.copy(mine.why,
                                                                                  window_card::text_bytes);
    return std::current_exception();
  }
}

void require_alike(std::span<const window_card> all) {
  for (std::size_t r = 0; r < all.size(); ++r) {
    const window_card& one = all[r];
    if (one.failure != 0) {
      const std::string why{one.why, strnlen(one.why, window_card::text_bytes)};
      throw error(code_received(one.failure),
                  fmt::format("window: no rank has one, since rank {} could not make its part: {}", r,
                              printable(why)),
                  {static_cast<int>(r)});
    }
    // All ranks compare with rank 0, so that all refuse or none does.
    if (one.type != all[0].type || one.notifications != all[0].notifications)
      throw error(
          errc::mismatch,
          fmt::format("window: rank 0 makes one of {} with {} notifications, rank {} one of {} with {}",
                      describe_type(all[0].type), all[0].notifications, r, describe_type(one.type),
                      one.notifications),
          {0, static_cast<int>(r)});
  }
}

std::vector<transport::remote_memory_card> memories_of(std::span<const window_card> all,
                                                       const window_card& mine, std::size_t element_bytes) {
  require_alike(all);
  std::vector<transport::remote_memory_card> memories;
  for (const window_card& theirs : all) {
    const int rank = static_cast<int>(memories.size());
    if (!theirs.memory.is_sound(rank, element_bytes, mine.memory))
      throw error(errc::mismatch,
                  fmt::format("window: what rank {} reports of its memory is impossible", rank), {rank});
    memories.push_back(theirs.memory);
  }
  return memories;
}

}  // namespace chorale::calls
