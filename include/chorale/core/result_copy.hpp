// SPDX-License-Identifier: Apache-2.0
// Copies the parts of a long result into the output.
#pragma once

#include <cstddef>

namespace chorale {

/// Copies parts of a result as they arrive to their place in the output, either through the caches or with
/// non-temporal stores. If the results of all ranks of the host exceed the last-level cache, nothing stays
/// cached until the program reads it; non-temporal stores then save reading each line before it is
/// overwritten, and leave the caches to later copies. Thread-safe. On processors other than x86-64 it always
/// copies through the caches.
class result_copy {
 public:
  /// `bytes`: the number of bytes that one rank reads and writes in the call. `ranks`: the number of ranks of
  /// the host that do so concurrently.
  result_copy(std::size_t bytes, int ranks) noexcept;
  /// As `std::memcpy`. A thread that is notified afterwards sees the bytes.
  void operator()(void* to, const void* from, std::size_t bytes) const noexcept;

 private:
  bool passes_caches_;
};

}  // namespace chorale
