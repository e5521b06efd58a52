// SPDX-License-Identifier: Apache-2.0
// Windows and device arrays of ranks that are threads.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <chorale/algorithm/allgather/ring.hpp>
#include <chorale/algorithm/barrier/central.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/window.hpp>

#include "../support/windows.hpp"
#include "ranks.hpp"

using namespace inprocess;
using communicator = chorale::communicator<chorale::transport::rc>;

namespace {

/// A bootstrap group with only this rank.
struct lonely {
  [[nodiscard]] int rank() const { return 0; }
  [[nodiscard]] int size() const { return 1; }
  [[nodiscard]] std::string job() const { return "one rank"; }
  [[nodiscard]] std::string describe() const { return "one rank"; }
  [[nodiscard]] chorale::bootstrap::cards exchange(std::span<const std::byte> card,
                                                   std::chrono::milliseconds) const {
    return {{card.begin(), card.end()}};
  }
};

}  // namespace

TEST_CASE("windows of threads", "[window]") {
  for (const int size : {1, 2, 3, 4, 7}) {
    run_ranks<communicator>(size, settings(),
                            [](auto& comm) { windows::all_checks(comm, seed(), instrumented ? 2 : 4); });
  }
}

TEST_CASE("a target computes while others put into its memory for the first time", "[window]") {
  // Calls that connect each rank with one or two others.
  using far =
      chorale::communicator<chorale::transport::rc, chorale::barrier::central, chorale::allgather::ring>;
  auto c = settings();
  c.service = chorale::service_policy::off;
  for (const int size : {2, 3, 5, 8}) {
    std::atomic<int> done{0};
    run_ranks<far>(size, c, [&](auto& comm) {
      chorale::window<int, far> w{comm, static_cast<std::size_t>(comm.size())};
      const int target = comm.size() - 1;
      if (comm.rank() == target) {
        while (done != target) chorale::clock::give_way();
      } else {
        w.put(target, static_cast<std::size_t>(comm.rank()), comm.rank() + 1);
        w.flush(target);
        ++done;
      }
      w.fence();
      for (int r = 0; r < target && comm.rank() == target; ++r)
        windows::expect(w.local()[static_cast<std::size_t>(r)] == r + 1, "a put is not there");
    });
  }
}

TEST_CASE("device arrays are registered once and leave no registrations behind", "[window]") {
  run_ranks<communicator>(3, settings(), [](auto& comm) {
    using windows::expect;
    expect(comm.template allocate<int>(0).empty(), "no elements are some");
    refused(chorale::errc::invalid_argument, {},
            [&] { static_cast<void>(comm.template allocate<double>(static_cast<std::size_t>(-1) / 4)); });
    constexpr std::size_t count = 50'000;  // long enough for zero copy
    for (int round = 0; round < 5; ++round) {
      auto array = comm.template allocate<std::uint64_t>(count + static_cast<std::size_t>(round) * 1000);
      for (const auto v : array) expect(v == 0, "fresh memory is not zero");
      const auto before = comm.transport().registrations();
      for (std::size_t i = 0; i < array.size(); ++i) array[i] = i + static_cast<unsigned>(round);
      if (comm.rank() != 1) std::fill(array.begin(), array.end(), 0);
      comm.broadcast(array.span(), chorale::root{1});
      for (std::size_t i = 0; i < array.size(); ++i)
        expect(array[i] == i + static_cast<unsigned>(round), "a broadcast into a device array is wrong");
      expect(comm.transport().registrations().misses == before.misses,
             "a call has registered a device array again");
      auto moved = std::move(array);
      expect(array.empty() && moved.size() == count + static_cast<std::size_t>(round) * 1000,
             "a move is wrong");
      comm.barrier();
    }
    comm.barrier();  // these ranks share a process and thus registrations
    expect(comm.transport().registrations().entries == 0, "registrations of device arrays are left over");
  });
}

TEST_CASE("memory at the address of an array that has ended counts as new memory in all communicators",
          "[window]") {
  run_ranks<communicator>(2, settings(), [](auto& comm) {
    auto other = comm.duplicate();
    constexpr std::size_t count = 50'000;  // as above
    for (std::uint64_t round = 0; round < 6; ++round) {
      auto array = comm.template allocate<std::uint64_t>(count);
      // The other communicator registers it like any memory, and caches the registration.
      for (std::size_t i = 0; i < count; ++i) array[i] = comm.rank() == 0 ? round * count + i : 0;
      other.broadcast(array.span(), chorale::root{0});
      for (std::size_t i = 0; i < count; ++i)
        windows::expect(array[i] == round * count + i, "a broadcast went to memory that was there before");
    }
  });
}

TEST_CASE("an operator that throws leaves a window unchanged, and its lock free", "[window]") {
  run_ranks<communicator>(3, settings(), [](auto& comm) {
    chorale::window<float, communicator> w{comm, std::size_t{2}};
    const int target = (comm.rank() + 1) % comm.size();
    try {
      w.fetch_and_op(target, 0, 1.0F, [](float, float) -> float { throw std::domain_error{"no"}; });
      windows::expect(false, "the operator's exception is lost");
    } catch (const std::domain_error&) {
    }
    for (int r = 0; r < comm.size(); ++r) w.fetch_and_op(r, 1, 1.0F, chorale::sum);
    w.fence();
    windows::expect(w.local()[0] == 0.0F && w.local()[1] == 3.0F,
                    "something was written, or a lock was kept");
  });
}

TEST_CASE("a notification that never comes is an error that says so", "[window]") {
  auto hasty = settings();
  hasty.deadline = std::chrono::milliseconds{300};
  for (const bool anybody : {true, false}) {
    run_ranks<communicator>(2, settings(), [&](auto& comm) {
      auto alone = comm.split(0);
      lonely none;
      communicator impatient{none, hasty};
      chorale::window<int, communicator> w{impatient, std::size_t{1}};
      refused(chorale::errc::deadline, {"notifications from", "300 ms"},
              [&] { anybody ? w.wait_notified(chorale::any_rank, 3) : w.wait_notified(0, 3); });
      refused(chorale::errc::poisoned, {}, [&] { w.flush(0); });
      alone->barrier();
    });
  }
}

TEST_CASE("a counter of notifications that arrives in parts shows no number that was not sent", "[window]") {
  constexpr std::uint64_t times = 5000;
  std::atomic<std::uint64_t> sent{0};
  run_ranks<communicator>(2, settings(), [&](auto& comm) {
    chorale::window<int, communicator> w{comm, std::size_t{1}};
    if (comm.rank() == 1) {
      for (std::uint64_t i = 0; i < times; ++i) {
        ++sent;
        w.put_notify(0, 0, static_cast<int>(i), 0);
      }
      w.flush(0);
    } else {
      for (std::uint64_t seen = 0; seen < times;) {
        const std::uint64_t now = w.notified(1, 0);
        windows::expect(now >= seen && now <= sent.load(), "a number that was not sent");
        seen = now;
      }
    }
    w.fence();
  });
}
