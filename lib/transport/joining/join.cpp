// SPDX-License-Identifier: Apache-2.0
// Joining by an exchange that waits for all ranks.
#include <exception>
#include <utility>

#include <chorale/core/error.hpp>
#include <chorale/core/uncancellable.hpp>
#include <chorale/transport/joining/joining.hpp>

namespace chorale::transport {
namespace {

/// Maximum number of retries to report that this rank cannot join, when memory is short.
constexpr int most_exchanges = 8;

/// The messages of a round. If an exchange fails on this rank only, the others may or may not have its
/// message: the retry sends them a refusal, in this round or the next.
bootstrap::cards exchange(const group_view& group, joining& mine) {
  for (int attempts_left = most_exchanges;; --attempts_left) {
    try {
      return group.exchange(mine.message());
    } catch (const error&) {
      // The bootstrap itself has failed, or another rank has.
      throw;
    } catch (const std::exception&) {
      if (mine.is_expected() || attempts_left == 0) throw;
      mine.give_up();
    }
  }
}

}  // namespace

joined_group join(const group_view& group, joining_plan plan) {
  const detail::uncancellable ends_first;
  joining mine{group, std::move(plan)};
  while (!mine.is_over()) mine.take(exchange(group, mine));
  return mine.finish();
}

}  // namespace chorale::transport
