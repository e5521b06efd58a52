// Windows and device arrays of ranks that are threads.
#include <cstdint>
#include <span>
#include <vector>

#include <chorale/transport/rc.hpp>
#include <chorale/window.hpp>

#include "../support/windows.hpp"
#include "ranks.hpp"

using namespace inprocess;
using communicator = chorale::communicator<chorale::transport::rc>;

TEST_CASE("windows of threads", "[window]") {
  for (const int size : {1, 2, 3, 4, 7}) {
    run_ranks<communicator>(size, settings(),
                            [](auto& comm) { windows::all_checks(comm, seed(), instrumented ? 2 : 4); });
  }
}

TEST_CASE("device arrays are registered once and end without a trace", "[window]") {
  run_ranks<communicator>(3, settings(), [](auto& comm) {
    using windows::expect;
    expect(comm.template allocate<int>(0).empty(), "no elements are some");
    try {
      static_cast<void>(comm.template allocate<double>(static_cast<std::size_t>(-1) / 4));
      windows::fail("more memory than there can be");
    } catch (const chorale::error& e) {
      expect(e.code() == chorale::errc::invalid_argument, e.what());
    }
    constexpr std::size_t count = 50'000;  // long enough to go without a copy
    for (int round = 0; round < 5; ++round) {
      auto array = comm.template allocate<std::uint64_t>(count + static_cast<std::size_t>(round) * 1000);
      for (const auto v : array) expect(v == 0, "fresh memory is not zero");
      const auto before = comm.transport().registrations();
      for (std::size_t i = 0; i < array.size(); ++i) array[i] = i + static_cast<unsigned>(round);
      if (comm.rank() != 1) std::fill(array.begin(), array.end(), 0);
      comm.broadcast(array.span(), 1);
      for (std::size_t i = 0; i < array.size(); ++i)
        expect(array[i] == i + static_cast<unsigned>(round), "a broadcast into a device array is wrong");
      expect(comm.transport().registrations().misses == before.misses,
             "a call has registered a device array again");
      auto moved = std::move(array);
      expect(array.empty() && moved.size() == count + static_cast<std::size_t>(round) * 1000,
             "a move is wrong");
      comm.barrier();
    }
    expect(comm.transport().registrations().entries == 0, "registrations of device arrays are left over");
  });
}

TEST_CASE("memory at the address of an array that has ended is other memory, for all communicators",
          "[window]") {
  run_ranks<communicator>(2, settings(), [](auto& comm) {
    const auto other = comm.duplicate();
    constexpr std::size_t count = 20'000;
    for (std::uint64_t round = 0; round < 6; ++round) {
      auto array = comm.template allocate<std::uint64_t>(count);
      // The other communicator learns of it as of any memory, and keeps what it has learnt.
      for (std::size_t i = 0; i < count; ++i) array[i] = comm.rank() == 0 ? round * count + i : 0;
      other->broadcast(array.span(), 0);
      for (std::size_t i = 0; i < count; ++i)
        windows::expect(array[i] == round * count + i, "a broadcast went to memory that was there before");
    }
  });
}
