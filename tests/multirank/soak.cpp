// SPDX-License-Identifier: Apache-2.0
// Thousands of calls back to back, of all operations, sizes and roots, with ranks that are late at random and
// without synchronization. Usage: soak [CALLS]
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

#include "../support/collectives/checks.hpp"
#include "../support/seed.hpp"

using namespace collectives;

namespace {

/// A nonblocking call, and the check after its end.
struct outstanding {
  chorale::request request;
  std::function<void()> verify;
};

template <class Comm>
class soak {
 public:
  soak(Comm& comm, std::uint64_t seed)
      : comm_(comm), plan_(seed), own_(mixed(seed) + static_cast<unsigned>(comm.rank())) {}

  void run(int calls) {
    for (call_ = 0; call_ < calls; ++call_) {
      delay();
      try {
        one_call();
        if (pending_.size() > 6 || own_() % 8 == 0) finish_some();
      } catch (const std::exception& e) {
        throw wrong("call " + std::to_string(call_) + " on rank " + std::to_string(comm_.rank()) + ": " +
                    e.what());
      }
    }
    while (!pending_.empty()) finish_some();
  }

 private:
  /// Delays this rank: rarely so long that all wait for it, often only briefly.
  void delay() {
    const bool long_one = plan_() % 500 == 0;
    const auto victim = static_cast<int>(plan_() % static_cast<unsigned>(comm_.size()));
    if (long_one && victim == comm_.rank()) std::this_thread::sleep_for(std::chrono::milliseconds{3});
    if (own_() % 32 == 0) {
      const auto until = chorale::clock::now() + std::chrono::microseconds{own_() % 200};
      while (chorale::clock::now() < until) chorale::pause();
    }
  }

  std::size_t bytes() {
    const auto n = plan_();
    const std::size_t block = comm_.transport().block_bytes();
    if (n % 100 < 70) return n / 128 % 256;
    if (n % 100 < 97) return n / 128 % (3 * block);
    return n / 128 % 131072;
  }

  void one_call() {
    const auto kind = plan_() % 16;
    const std::size_t count = bytes();
    const std::size_t share = count / static_cast<std::size_t>(comm_.size());
    const auto root = static_cast<int>(plan_() % static_cast<unsigned>(comm_.size()));
    const std::uint64_t seed = plan_();
    const manner m{.in_place = seed % 2 == 0, .misalignment = seed / 2 % 8 == 0 ? 5U : 0U};
    switch (kind) {
      case 0:
        return check_barrier(comm_);
      case 1:
        return comm_.barrier();
      case 2:
        return check_broadcast<std::byte>(comm_, count, root, seed, m);
      case 3:
        return check_reduce<triangle>(comm_, count / sizeof(triangle), root, multiply{}, seed, m);
      case 4:
        return check_allreduce<std::uint32_t>(comm_, count / 4, chorale::sum, seed, m);
      case 5:
        return check_allreduce<triangle>(comm_, count / sizeof(triangle), multiply{}, seed, m);
      case 6: {
        auto data = std::make_shared<guarded_buffer<std::byte>>(count);
        data->fill_with([&](std::size_t i) { return operand<std::byte>(seed, comm_.rank(), i); });
        auto begun = comm_.ibroadcast(data->span(), chorale::root{root});
        return keep(std::move(begun), [=] {
          data->check("ibroadcast", [&](std::size_t i) { return operand<std::byte>(seed, root, i); });
        });
      }
      case 7:
        return check_allgather<std::byte>(comm_, share, seed, m);
      case 8:
        return check_allgatherv<std::uint32_t>(comm_, share / 4, seed, m);
      case 9:
        return check_alltoall<std::byte>(comm_, share, seed, m);
      case 10:
        return check_alltoallv<std::uint32_t>(comm_, share / 4, seed, m);
      case 11:
        return check_gather<std::byte>(comm_, share, root, seed, m);
      case 12:
        return check_scatter<std::byte>(comm_, share, root, seed, m);
      case 13:
        return check_reduce_scatter<triangle>(comm_, share / sizeof(triangle), multiply{}, seed, m);
      case 14:
        return check_scan<triangle>(comm_, count / sizeof(triangle), multiply{}, seed / 16 % 2 == 0, seed, m);
      default: {
        auto data = std::make_shared<guarded_buffer<triangle>>(count / sizeof(triangle));
        data->fill_with([&](std::size_t i) { return operand<triangle>(seed, comm_.rank(), i); });
        auto begun = comm_.iallreduce(chorale::in_place, data->span(), multiply{});
        return keep(std::move(begun), [data, seed, ranks = comm_.size()] {
          data->check("iallreduce", [&](std::size_t i) {
            return expected_reduction<triangle>(seed, ranks, i, multiply{});
          });
        });
      }
    }
  }

  void keep(chorale::request request, std::function<void()> verify) {
    pending_.push_back({std::move(request), std::move(verify)});
  }

  /// Finishes some calls, by testing or by waiting; different ones on each rank.
  void finish_some() {
    if (pending_.empty()) return;
    const auto at = pending_.begin() + static_cast<std::ptrdiff_t>(own_() % pending_.size());
    if (own_() % 2 == 0)
      at->request.wait();
    else
      await(std::move(at->request));
    at->verify();
    pending_.erase(at);
  }

  Comm& comm_;
  std::mt19937_64 plan_;  ///< the same on all ranks
  std::mt19937_64 own_;
  std::deque<outstanding> pending_;
  int call_ = 0;
};

}  // namespace

int main(int count, char** words) try {
  const int calls = count > 1 ? std::atoi(words[1]) : 10'000;
  chorale::communicator<chorale::transport::rc> comm;
  const auto seed = support::common_seed(comm);
  soak{comm, seed}.run(calls);
  chorale::communicator<chorale::transport::ud> datagrams;
  soak{datagrams, seed + 1}.run(calls / 2);
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "soak: {}\n", e.what());
  return 1;
}
