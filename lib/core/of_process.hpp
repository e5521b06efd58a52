// Static objects that a child of fork() has anew.
#pragma once

#include <new>
#include <pthread.h>

#include <chorale/core/origin.hpp>

#include "immortal.hpp"

namespace chorale::detail {

/// The T of this process, which nobody destroys. A child of fork() begins with a new one: the lock in its
/// copy of its parent's may be held by a thread that it has not.
template <class T>
class of_process {
 public:
  [[nodiscard]] static T& get() {
    static immortal<T> one;
    return *one;
  }
  /// To be called while the library is loaded, when nobody can be making it. Without memory for the handler,
  /// a child has its parent's.
  static void know_forks() {
    static_cast<void>(get());
    static_cast<void>(pthread_atfork(nullptr, nullptr, [] {
      T& of_parent = get();
      origin::abandon(&of_parent, sizeof of_parent);
      ::new (static_cast<void*>(&of_parent)) T;
    }));
  }
};

}  // namespace chorale::detail
