// SPDX-License-Identifier: Apache-2.0
// Memory orders that are stronger than a release and the acquire that reads from it; tests/protocols explores
// each protocol with them, and with weaker ones, on x86, ARM and POWER (`soft_orders_test.cpp`).
#pragma once

#include <atomic>

namespace chorale::soft::orders {

/// For loads of a copier that holds a lock: the state of its target, the generation of a region. The owner
/// changes them and then checks whether the lock is free (`process::quiesce`): one of the two must see the
/// other's store. Acquire is not enough, since on ARM and POWER the load may precede the store of the lock.
inline constexpr auto behind_lock = std::memory_order_seq_cst;

/// Between posting a receive and checking whether its QP has failed; a process that makes the QP fail changes
/// the state and then looks for receives.
inline constexpr auto after_posting = std::memory_order_seq_cst;

/// For the store of 1 to `segment::attention`, and for the fence between the owner's store of 0 and its loads
/// of the work: a 1 that the 0 overwrites is never read, so release and acquire order nothing.
inline constexpr auto calling_attention = std::memory_order_seq_cst;

}  // namespace chorale::soft::orders
