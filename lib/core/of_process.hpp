// SPDX-License-Identifier: Apache-2.0
// Static objects that a child of fork() replaces by new ones.
#pragma once

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

}  // namespace chorale::detail
