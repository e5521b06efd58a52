// SPDX-License-Identifier: Apache-2.0
// The first communicators of threads, whose rank numbers identify the threads in traces.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include <chorale/transport/observers/observer.hpp>

namespace chorale::transport {

/// Records the first communicator of each thread, or fiber of a simulation: communicators split from it
/// renumber the ranks and have other job numbers, so that only the first identifies the ranks. Once a thread
/// has no communicator left, its next one is the first. Thread-safe.
class first_communicators {
 public:
  [[nodiscard]] static first_communicators& all();

  /// The thread `flow` makes communicator `who`: sets its home and job.
  void enter(const void* flow, observed_communicator& who);
  void leave(const void* flow) noexcept;

 private:
  struct home {
    int rank = 0;
    std::uint32_t job = 0;
    std::size_t communicators = 0;
  };

  std::mutex mutex_;
  std::map<const void*, home> by_flow_;
};

}  // namespace chorale::transport
