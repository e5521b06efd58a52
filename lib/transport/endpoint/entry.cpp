// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <new>
#include <vector>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/transport/endpoint/entry.hpp>

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
                         [] { of_process().close_in_child(); }) != 0)
        throw std::bad_alloc{};
      return r;
    }();
    return *made;
  }

  void add(occupancy& one) {
    const std::lock_guard hold{lock};
    all.push_back(&one);
  }
  void remove(occupancy& one) noexcept {
    const std::lock_guard hold{lock};
    std::erase(all, &one);
  }
  void close_in_child() noexcept {
    for (occupancy* one : all) one->close_in_child();
    // They stay closed, and may end without being removed from this list.
    all.clear();
    lock.unlock();
  }
};

}  // namespace

occupancy::occupancy(int rank) : rank_(rank) {
  registry::of_process().add(*this);
}

occupancy::~occupancy() {
  registry::of_process().remove(*this);
}

void occupancy::refuse(operation what) const {
  const std::string call = what == operation::none ? "allocate, or test or wait of a request" : name(what);
  if (is_parents())
    throw error(errc::misuse,
                fmt::format("{} on rank {}: this process is a child, made by fork(), of the one whose "
                            "communicator it is; only that one can use it",
                            call, rank_),
                {rank_});
  if (inside_.load(std::memory_order_relaxed) == pthread_self())
    throw error(errc::misuse,
                fmt::format("{} on rank {}: called from inside another call of the same communicator, by a "
                            "reduction operator, a stall handler or a function of while_waiting, or after "
                            "longjmp() out of a call; use another communicator there",
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
