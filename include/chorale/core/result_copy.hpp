// Copies of the parts of a long result to their places.
#pragma once

#include <cstddef>

namespace chorale {

/// Copies what arrives in parts to where the result of a call has it, through the caches or past them. If
/// the results of all ranks of the host are larger than the last cache, none of it stays there until the
/// program reads it; writing past the caches then saves reading each line before it is overwritten, and
/// leaves the caches to what is copied next. Any thread; elsewhere than on x86-64 it always copies through.
class result_copy {
 public:
  /// `bytes`: what a rank reads and writes in the call. `ranks`: how many do so at the same time.
  result_copy(std::size_t bytes, int ranks) noexcept;
  /// As `std::memcpy`. Whoever is told afterwards that the bytes are there sees them.
  void operator()(void* to, const void* from, std::size_t bytes) const noexcept;

 private:
  bool passes_caches_;
};

}  // namespace chorale
