// SPDX-License-Identifier: Apache-2.0
#include "shared_lock.hpp"

#include <chrono>

#include <chorale/core/clock.hpp>

#include "copy.hpp"

namespace chorale::soft {

std::int64_t now_ns() noexcept {
  return std::chrono::nanoseconds{clock::now().time_since_epoch()}.count();
}

void back_off(unsigned round) noexcept {
  if (round < 64 && !clock::is_replaced())
    pause();
  else if (round < 1024)
    clock::give_way();
  else
    clock::sleep_for(std::chrono::microseconds{50});
}

/// Whether to check now that the holder is alive. The number of naps does not measure time: where processes
/// outnumber cores, each yield may take milliseconds.
static bool is_time_to_look(unsigned round) noexcept {
  return round >= 128 && round % 64 == 0;
}

bool shared_lock::lock_contended(std::uint32_t me, std::int64_t patience_ns, segment* written) noexcept {
  std::int64_t begun = 0;
  for (unsigned round = 0;; ++round) {
    back_off(round);
    if (try_lock(me)) return true;
    if (round >= 64) serve_while_waiting();
    if (!is_time_to_look(round)) continue;
    const std::int64_t now = now_ns();
    if (begun == 0) begun = now;
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    if (owner(seen) != 0 && owner_gone(owner(seen)) &&
        (written == nullptr || settle_bounces(*written, patience_ns)) &&
        word.compare_exchange_strong(seen, next(seen, me), std::memory_order_seq_cst))
      return true;
    if (now - begun > patience_ns) return false;
  }
}

bool shared_lock::await_release() noexcept {
  const std::uint64_t first = word.load(std::memory_order_seq_cst);
  if (owner(first) == 0) return true;
  std::int64_t begun = 0;
  for (unsigned round = 0;; ++round) {
    back_off(round);
    if (word.load(std::memory_order_acquire) != first) return true;
    if (round >= 64) serve_while_waiting();
    if (!is_time_to_look(round)) continue;
    const std::int64_t now = now_ns();
    if (begun == 0) begun = now;
    if (owner_gone(owner(first))) return true;
    if (now - begun > lock_patience_ns) return false;
  }
}

}  // namespace chorale::soft
