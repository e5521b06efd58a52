// Keeps the library's descriptors off those of standard input, output and errors.
#pragma once

#include <utility>

namespace chorale::detail {

/// A program may run without standard streams, as daemons do; its output would go to whatever the library
/// opened as descriptor 1. During the lifetime of this object no new descriptor of the process is 0, 1 or 2:
/// those that are closed refer to "/" with O_PATH, so that reading and writing them fails with EBADF as
/// before. Preserves errno. Thread-safe; nests.
class streams_reserved {
 public:
  streams_reserved() noexcept;
  streams_reserved(const streams_reserved&) = delete;
  streams_reserved& operator=(const streams_reserved&) = delete;
  ~streams_reserved();

  /// Handlers of fork() that open descriptors call it before they are registered. The library does, too, when
  /// it is loaded.
  static void know_forks() noexcept;
};

/// What `open` returns: descriptors that it makes are not those of standard streams.
template <class Open>
auto above_streams(Open&& open) {
  const streams_reserved held;
  return std::forward<Open>(open)();
}

}  // namespace chorale::detail
