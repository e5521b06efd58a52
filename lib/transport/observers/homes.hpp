// The first communicators of threads, whose ranks name what the threads do.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include <chorale/transport/observers/observer.hpp>

namespace chorale::transport {

/// Knows for each thread, or fiber of a simulation, the first of its communicators: parts of that one number
/// their ranks anew, and have jobs of their own, so that only it says who is who. When a thread has no
/// communicator any more its next one is the first. Thread-safe.
class homes {
 public:
  [[nodiscard]] static homes& all();

  /// Communicator `who` is made by the thread `flow`: sets its home, and its job.
  void enter(const void* flow, observed_communicator& who);
  void leave(const void* flow, const observed_communicator& who) noexcept;
  /// True if the first communicator of the thread has ended.
  [[nodiscard]] bool has_lost_first(const void* flow) const;

 private:
  struct home {
    int rank = 0;
    std::uint32_t job = 0;
    std::uint64_t number = 0;
    std::size_t communicators = 0;
    bool is_there = true;
  };

  mutable std::mutex mutex_;
  std::map<const void*, home> by_flow_;
};

}  // namespace chorale::transport
