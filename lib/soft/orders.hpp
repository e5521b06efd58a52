// Orders that are more than a release and the acquire that reads from it; tests/protocols explores what
// becomes of each protocol by them, and by weaker ones, on x86, ARM and POWER (`soft_orders_test.cpp`).
#pragma once

#include <atomic>

namespace chorale::soft::orders {

/// Of what a copier looks at once it holds a lock: the state of its target, the generation of a region. Their
/// owner changes them and then looks whether the lock is free (`process::quiesce`): one of the two must see
/// the other. Acquire is not enough, since on ARM and POWER the load may come before the store of the lock.
inline constexpr auto behind_lock = std::memory_order_seq_cst;

/// Between posting a receive and looking whether its QP has failed; who lets it fail changes the state and
/// then looks for receives.
inline constexpr auto after_posting = std::memory_order_seq_cst;

/// Of the 1 in `segment::attention`, and of the fence between its 0 and the look at the work: a 1 that the 0
/// overwrites is never read, so that release and acquire order nothing.
inline constexpr auto calling_attention = std::memory_order_seq_cst;

}  // namespace chorale::soft::orders
