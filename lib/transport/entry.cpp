#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/transport/entry.hpp>

namespace chorale::transport {

void occupancy::refuse(operation what) const {
  const std::string call = what == operation::none ? "test or wait of a request" : name(what);
  if (inside_.load(std::memory_order_relaxed) == pthread_self())
    throw error(errc::misuse,
                fmt::format("{} on rank {}: called from inside another call of the same communicator, by a "
                            "reduction operator or a stall handler; use another communicator there",
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
