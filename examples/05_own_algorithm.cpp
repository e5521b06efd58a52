// SPDX-License-Identifier: Apache-2.0
// Your own algorithm: a type with three members, which a communicator takes like those of the library.
#include <atomic>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

/// Linear barrier: all signal rank 0, which waits for each of them and then signals all.
/// Cost: n - 1 signals to rank 0 and n - 1 from it, one after the other.
struct linear {
  static constexpr auto implements = chorale::operation::barrier;

  // What it asks of a transport: signals, so any transport with a mailbox will do.
  template <class T>
  static constexpr bool runs_on = chorale::mailbox_transport<T>;

  // A coroutine, so that blocking and nonblocking calls share this text. `now` is the number of the call: a
  // signal is waited for by its number or a later one. No rank can be two calls ahead, since each waits for
  // rank 0, and rank 0 for all: so no signal is overwritten before it has been seen or has become
  // unnecessary.
  template <chorale::mailbox_transport T>
  static chorale::task<> run(T& net, chorale::call_id now) {
    if (net.rank() != 0) {
      co_await net.signal(0, now);
      co_await net.signalled(0, now);
    } else {
      for (int rank = 1; rank < net.size(); ++rank) co_await net.signalled(rank, now);
      for (int rank = 1; rank < net.size(); ++rank) co_await net.signal(rank, now);
    }
  }
};

using communicator = chorale::communicator<linear>;
static_assert(std::is_same_v<communicator::algorithm_of<chorale::operation::barrier>, linear>);

/// Ranks can be threads of one process. They then share memory, and a counter can check what a barrier
/// promises: no rank leaves it before all have entered. Returns the number of violations.
int failures_among_threads(int ranks, int calls) {
  std::atomic<int> entered{0};
  std::atomic<int> failures{0};
  chorale::bootstrap::run_in_process(ranks, [&](auto& group) {
    communicator comm{group};
    for (int call = 1; call <= calls; ++call) {
      if (call % ranks == comm.rank())
        std::this_thread::sleep_for(std::chrono::microseconds{100});  // one is late
      entered.fetch_add(1);
      comm.barrier();
      if (entered.load() < call * ranks) failures.fetch_add(1);
    }
  });
  return failures.load();
}

int main() try {
  communicator comm;  // now between processes

  const int failures = comm.rank() == 0 ? failures_among_threads(5, 200) : 0;

  for (int i = 0; i < 1000; ++i) comm.barrier();
  chorale::request pending = comm.ibarrier();  // the same algorithm, not waited for at once
  pending.wait();

  if (comm.rank() == 0)
    fmt::print("linear barrier: {} failures among 5 threads; 1001 calls over {} processes\n", failures,
               comm.size());
  return failures == 0 ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "05_own_algorithm: {}\n", e.what());
  return 1;
}
