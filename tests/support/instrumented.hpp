// Whether a sanitizer watches this program.
#pragma once

namespace support {

/// True under the address or the thread sanitizer: everything is many times slower, and memory that is freed
/// stays mapped.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool instrumented = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
inline constexpr bool instrumented = true;
#else
inline constexpr bool instrumented = false;
#endif
#else
inline constexpr bool instrumented = false;
#endif

}  // namespace support
