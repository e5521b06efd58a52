// Order between accesses by several mappings of the same memory, for the thread sanitizer: it knows atomic
// words by their addresses, so that it sees no order between threads that reach one word by two addresses.
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
/// What stands for all such words.
inline char twin_mappings = 0;
inline void note_released() noexcept {
  __tsan_release(&twin_mappings);
}
inline void note_acquired() noexcept {
  __tsan_acquire(&twin_mappings);
}
#else
/// Before a word is stored that others acquire by another mapping.
inline void note_released() noexcept {}
/// After such a word has been loaded.
inline void note_acquired() noexcept {}
#endif

}  // namespace chorale::detail

#undef CHORALE_THREADS_ARE_WATCHED
