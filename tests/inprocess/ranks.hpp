// Ranks as threads on the software device, with their complaints collected.
#pragma once

#include <chrono>
#include <exception>
#include <mutex>
#include <string>

#include <catch2/catch.hpp>

#include <chorale/bootstrap/in_process.hpp>
#include <chorale/communicator.hpp>

#include "../support/action.hpp"
#include "../support/expect.hpp"
#include "../support/instrumented.hpp"
#include "../support/seed.hpp"

namespace inprocess {

using support::expect;
using support::instrumented;
using support::seed;
using support::threads_watched;

/// Whether groups of this size are left to builds without a sanitizer, where they take seconds.
constexpr bool too_large(int ranks) {
  return instrumented && ranks > 8;
}

inline chorale::config settings() {
  chorale::config c;
  c.device = "soft0";
  c.deadline = std::chrono::seconds{instrumented ? 120 : 60};
  return c;
}

/// Runs `body(comm)` on `size` ranks with a communicator each and fails the test case with what any rank
/// threw. Assertions of the test framework are not for `body`: they are not thread-safe.
template <class Comm>
void run_ranks(int size, const chorale::config& c, support::action<Comm> body) {
  std::mutex mutex;
  std::string complaints;
  chorale::bootstrap::run_in_process(size, [&](auto& group) {
    try {
      Comm comm{group, c};
      try {
        body(comm);
      } catch (const std::exception& e) {
        // Told here, before the others see this rank leave.
        const std::lock_guard lock{mutex};
        complaints += "rank " + std::to_string(group.rank()) + ": " + e.what() + "\n";
      }
    } catch (const std::exception& e) {
      const std::lock_guard lock{mutex};
      complaints += "rank " + std::to_string(group.rank()) + " making its communicator: " + e.what() + "\n";
    }
  });
  INFO(size << " ranks, seed " << seed() << ":\n" << complaints);
  CHECK(complaints.empty());
}

}  // namespace inprocess
