#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/transport/entry.hpp>

namespace chorale::transport {
namespace {

/// All communicators of this process. Never destroyed, since static communicators would outlive it.
struct registry {
  std::mutex lock;
  std::vector<occupancy*> all;

  static registry& of_process() {
    static auto* const made = [] {
      auto* r = new registry;
      if (pthread_atfork([] { of_process().lock.lock(); }, [] { of_process().lock.unlock(); },
                         [] {
                           for (occupancy* one : of_process().all) one->close_in_child();
                           of_process().lock.unlock();
                         }) != 0)
        throw std::bad_alloc{};
      return r;
    }();
    return *made;
  }
};

}  // namespace

occupancy::occupancy(int rank) : rank_(rank) {
  registry& known = registry::of_process();
  const std::lock_guard hold{known.lock};
  known.all.push_back(this);
}

occupancy::~occupancy() {
  registry& known = registry::of_process();
  const std::lock_guard hold{known.lock};
  known.all.erase(std::find(known.all.begin(), known.all.end(), this));
}

void occupancy::refuse(operation what) const {
  const std::string call = what == operation::none ? "test or wait of a request" : name(what);
  if (inside_.load(std::memory_order_relaxed) == in_parent)
    throw error(errc::misuse,
                fmt::format("{} on rank {}: this process is a child, made by fork(), of the one whose "
                            "communicator it is; only that one can use it",
                            call, rank_),
                {rank_});
  if (inside_.load(std::memory_order_relaxed) == pthread_self())
    throw error(errc::misuse,
                fmt::format("{} on rank {}: called from inside another call of the same communicator, by a "
                            "reduction operator or a stall handler, or after longjmp() out of a call; use "
                            "another communicator there",
                            call, rank_),
                {rank_});
  throw error(
      errc::misuse,
      fmt::format("{} on rank {}: {}; one thread at a time may use a communicator: give each thread its own, "
                  "made by duplicate()",
                  call, rank_,
                  inside_.load(std::memory_order_relaxed) != pthread_t{}
                      ? "another thread is in a call of this communicator"
                      : "nonblocking calls of another thread are pending on this communicator"),
      {rank_});
}

}  // namespace chorale::transport
