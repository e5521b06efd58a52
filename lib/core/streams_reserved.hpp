// SPDX-License-Identifier: Apache-2.0
// Keeps the library's descriptors from being 0, 1 or 2, those of the standard streams.
#pragma once

#include <utility>

namespace chorale::detail {

/// A program may run without standard streams, as daemons do; its output would go to whatever the library
/// opened as descriptor 1. During the lifetime of this object no new descriptor of the process is 0, 1 or 2:
/// the closed ones among these refer to "/" with O_PATH, so that reading and writing them fails with EBADF as
/// before. Preserves errno. Thread-safe; nests.
class streams_reserved {
 public:
  streams_reserved() noexcept;
  streams_reserved(const streams_reserved&) = delete;
  streams_reserved& operator=(const streams_reserved&) = delete;
  ~streams_reserved();

  /// Registers the handler for fork(). To be called before registering fork handlers that open descriptors;
  /// the library also calls it when it is loaded.
  static void handle_forks() noexcept;
};

/// Calls `open` and returns its result; descriptors that it opens are not 0, 1 or 2.
template <class Open>
auto above_streams(Open&& open) {
  const streams_reserved held;
  return std::forward<Open>(open)();
}

}  // namespace chorale::detail
