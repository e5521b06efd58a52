// SPDX-License-Identifier: Apache-2.0
// What the library has across fork(): static objects that a child replaces, locks that it finds free.
#pragma once

#include <mutex>
#include <new>
#include <pthread.h>

#include <chorale/core/origin.hpp>

#include "immortal.hpp"

namespace chorale::detail {

/// The T of this process, never destroyed. A child of fork() starts with a new one, since the lock in its
/// copy of the parent's may be held by a thread that does not exist in the child.
template <class T>
class of_process {
 public:
  [[nodiscard]] static T& get() {
    static immortal<T> one;
    return *one;
  }
  /// To be called when the library is loaded, before another thread can create the object. If there is no
  /// memory for the handler, a child keeps its copy of the parent's object.
  static void handle_forks() {
    static_cast<void>(get());
    static_cast<void>(pthread_atfork(nullptr, nullptr, [] {
      T& of_parent = get();
      origin::abandon(&of_parent, sizeof of_parent);
      ::new (static_cast<void*>(&of_parent)) T;
    }));
  }
};

/// From now on fork() waits until no thread holds `lock`, so that a child finds neither the lock held by a
/// thread that does not exist there, nor what it protects half changed. To be called when the library is
/// loaded. Whoever holds `lock` must not fork. If there is no memory for the handlers, forks do not wait.
template <std::mutex& lock>
void hold_over_forks() noexcept {
  static_cast<void>(pthread_atfork([] { lock.lock(); }, [] { lock.unlock(); }, [] { lock.unlock(); }));
}

}  // namespace chorale::detail
