// SPDX-License-Identifier: Apache-2.0
// Whether a sanitizer watches this program.
#pragma once

#include <chrono>

namespace support {

#if defined(__has_feature)
#define CHORALE_TEST_HAS_FEATURE(name) __has_feature(name)
#else
#define CHORALE_TEST_HAS_FEATURE(name) 0
#endif

/// True under the thread sanitizer.
#if defined(__SANITIZE_THREAD__) || CHORALE_TEST_HAS_FEATURE(thread_sanitizer)
inline constexpr bool threads_watched = true;
#else
inline constexpr bool threads_watched = false;
#endif

/// True under the address or the thread sanitizer: everything is many times slower, and memory that is freed
/// stays mapped.
#if defined(__SANITIZE_ADDRESS__) || CHORALE_TEST_HAS_FEATURE(address_sanitizer) || \
    defined(__SANITIZE_THREAD__) || CHORALE_TEST_HAS_FEATURE(thread_sanitizer)
#define CHORALE_TEST_INSTRUMENTED 1
#else
#define CHORALE_TEST_INSTRUMENTED 0
#endif
inline constexpr bool instrumented = CHORALE_TEST_INSTRUMENTED;

/// A deadline short enough to pass while a peer stays away, and long enough for the other ranks even on a
/// busy machine.
inline constexpr std::chrono::milliseconds short_deadline{instrumented ? 4000 : 1000};

#undef CHORALE_TEST_HAS_FEATURE

}  // namespace support
