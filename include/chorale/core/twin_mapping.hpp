// SPDX-License-Identifier: Apache-2.0
// Tells the thread sanitizer about ordering between accesses through several mappings of the same memory: it
// identifies atomic words by address, so it sees no order between threads that access one word at two
// addresses.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define CHORALE_THREADS_ARE_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CHORALE_THREADS_ARE_WATCHED 1
#endif
#endif

#ifdef CHORALE_THREADS_ARE_WATCHED
#include <sanitizer/tsan_interface.h>
#endif

namespace chorale::detail {

#ifdef CHORALE_THREADS_ARE_WATCHED
/// Represents all such words.
inline char twin_mappings = 0;
inline void note_released() noexcept {
  __tsan_release(&twin_mappings);
}
inline void note_acquired() noexcept {
  __tsan_acquire(&twin_mappings);
}
#else
/// Call before storing a word that others load with acquire through another mapping.
inline void note_released() noexcept {}
/// Call after loading such a word.
inline void note_acquired() noexcept {}
#endif

}  // namespace chorale::detail

#undef CHORALE_THREADS_ARE_WATCHED
