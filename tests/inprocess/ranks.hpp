// SPDX-License-Identifier: Apache-2.0
// Ranks of one process, as threads on the software device or in virtual time, and their failures.
#pragma once

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/communicator.hpp>

#include "../support/anywhere.hpp"
#include "../support/expect.hpp"
#include "../support/instrumented.hpp"
#include "../support/seed.hpp"

namespace inprocess {

using support::expect;
using support::gate;
using support::instrumented;
using support::left_out_in_virtual_time;
using support::refused;
using support::run_anywhere;
using support::seed;
using support::threads_watched;

/// Whether groups of this size are tested only in builds without a sanitizer, where they take seconds, and
/// only with ranks that are threads: most of the time goes into checking results, which is the same
/// everywhere. Moreover, the more threads share two cores, the rarer are the interleavings that the thread
/// sanitizer needs.
inline bool too_large(int ranks) {
  return ranks > 5 && (threads_watched || support::in_virtual_time() || (instrumented && ranks > 8));
}

inline chorale::config settings() {
  chorale::config c;
  c.device = support::test_device();
  c.deadline = std::chrono::seconds{instrumented ? 120 : 60};
  return c;
}

/// Runs `body(comm)` on `size` ranks with a communicator each, and fails the test case with the exceptions of
/// ranks. `body` must not use assertions of the test framework, which are not thread-safe.
template <class Comm>
void run_ranks(int size, const chorale::config& c, support::action<Comm> body) {
  std::mutex mutex;
  std::string complaints;
  run_anywhere(size, [&](support::any_group& group) {
    try {
      Comm comm{group, c};
      try {
        body(comm);
      } catch (const std::exception& e) {
        // Recorded here, before the others see this rank leave.
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

/// The error of `body(comm)` on each of `size` ranks, whose communicators end thereafter.
template <class Comm>
std::vector<std::optional<chorale::error>> errors_of(int size, const chorale::config& c,
                                                     support::action<Comm> body) {
  std::vector<std::optional<chorale::error>> all(static_cast<std::size_t>(size));
  run_anywhere(size, [&](support::any_group& group) {
    Comm comm{group, c};
    all[static_cast<std::size_t>(group.rank())] = support::error_of([&] { body(comm); });
  });
  return all;
}

/// How many ranks have an error of that code.
inline auto count_of(const std::vector<std::optional<chorale::error>>& all, chorale::errc code) {
  return std::count_if(all.begin(), all.end(), [code](const auto& e) { return e && e->code() == code; });
}

}  // namespace inprocess
