// SPDX-License-Identifier: Apache-2.0
// Checks at the beginning of calls: one thread at a time in a communicator, no recursion, and no use in a
// child of fork().
#pragma once

#include <atomic>
#include <pthread.h>

#include <chorale/core/call.hpp>

namespace chorale::transport {

/// Tracks which thread is inside a communicator. The check costs a load and two stores, none of them locked,
/// so two threads that enter at the same instant may both succeed; the wait of one of them then detects the
/// other (`is_disturbed`).
class occupancy {
  /// An inline `pthread_self()`, which glibc does not provide.
  [[nodiscard]] static pthread_t this_thread() noexcept {
#if defined(__x86_64__) && defined(__GLIBC__)
    // The first word of a thread's control block is its own address, which is its pthread_t.
    pthread_t self;
    asm("mov %%fs:0, %0" : "=r"(self));
    return self;
#else
    return pthread_self();
#endif
  }

 public:
  /// A thread is inside during its lifetime. An error of the constructor has no effect on the call in
  /// progress.
  class [[nodiscard]] entry {
   public:
    /// `what` is the call that begins; operation::none means `allocate`, or testing or waiting for a request.
    /// @throws error errc::misuse if a thread is inside, or if nonblocking calls of another one are pending.
    [[gnu::always_inline]] entry(occupancy& place, operation what) : place_(place) {
      const pthread_t me = this_thread();
      const pthread_t pending = place.pending_.load(std::memory_order_relaxed);
      if (place.inside_.load(std::memory_order_relaxed) != pthread_t{} ||
          (pending != pthread_t{} && pending != me)) [[unlikely]]
        place.refuse(what);
      place.inside_.store(me, std::memory_order_relaxed);
    }
    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;
    ~entry() { place_.inside_.store(pthread_t{}, std::memory_order_relaxed); }

   private:
    occupancy& place_;
  };

  /// The same for work that a thread drives from its waits; the thread may already be inside.
  class [[nodiscard]] passage {
   public:
    explicit passage(occupancy& place) noexcept
        : place_(place), before_(place.inside_.load(std::memory_order_relaxed)) {
      if (is_open()) place_.inside_.store(this_thread(), std::memory_order_relaxed);
    }
    passage(const passage&) = delete;
    passage& operator=(const passage&) = delete;
    ~passage() {
      if (is_open()) place_.inside_.store(before_, std::memory_order_relaxed);
    }
    /// False if another thread is inside, or in a child of fork(): then touch nothing.
    [[nodiscard]] bool is_open() const noexcept {
      return !place_.is_parents() && (before_ == pthread_t{} || before_ == this_thread());
    }

   private:
    occupancy& place_;
    pthread_t before_;
  };

  /// `rank`: named in errors.
  explicit occupancy(int rank);
  occupancy(const occupancy&) = delete;
  occupancy& operator=(const occupancy&) = delete;
  ~occupancy();

  /// True if this thread is inside.
  [[nodiscard]] bool is_mine() const noexcept {
    return inside_.load(std::memory_order_relaxed) == this_thread();
  }
  /// In a child of fork(): rejects all later entries, and ends the waits of a thread that is inside.
  void close_in_child() noexcept {
    inside_.store(in_parent, std::memory_order_relaxed);
    pending_.store(in_parent, std::memory_order_relaxed);
  }
  /// True in a child of fork().
  [[nodiscard]] bool is_parents() const noexcept {
    return pending_.load(std::memory_order_relaxed) == in_parent;
  }
  /// Records whether nonblocking calls of this thread are pending.
  void set_pending(bool pending) noexcept {
    if (is_parents()) return;
    pending_.store(pending ? this_thread() : pthread_t{}, std::memory_order_relaxed);
  }
  /// True if a second thread entered at the same instant as this one. False outside calls.
  [[nodiscard]] bool is_disturbed() const noexcept {
    const pthread_t inside = inside_.load(std::memory_order_relaxed);
    return inside != pthread_t{} && inside != this_thread();
  }
  /// @throws error errc::misuse, always.
  [[noreturn]] void refuse(operation what) const;

 private:
  /// Marks a child of fork(), in place of a thread; no thread control block has this address. A thread that
  /// was inside at the fork erases the mark from `inside_`, but not from `pending_`.
  static constexpr pthread_t in_parent{1};

  std::atomic<pthread_t> inside_{};   ///< the thread in a call, or none
  std::atomic<pthread_t> pending_{};  ///< the thread whose nonblocking calls are pending, or none
  int rank_;
};

}  // namespace chorale::transport
