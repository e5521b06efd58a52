// SPDX-License-Identifier: Apache-2.0
// Runs ranks of which some make a mistake, and collects the outcome of each.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/communicator.hpp>
#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud_rdma.hpp>

#include "../support/anywhere.hpp"
#include "../support/expect.hpp"
#include "../support/instrumented.hpp"

/// The transports over which each mistake is tried.
#define MISUSE_TRANSPORTS chorale::transport::rc, chorale::transport::ud_rdma, chorale::transport::hybrid<2>

namespace misuse {

using support::expect;
using support::instrumented;
using over_rc = chorale::communicator<chorale::transport::rc>;
using over_ud_rdma = chorale::communicator<chorale::transport::ud_rdma>;
using over_hybrid = chorale::communicator<chorale::transport::hybrid<2>>;

/// The group sizes over which each mistake is tried.
inline constexpr int group_sizes[] = {2, 4, 7};

/// Settings with which a hang becomes a failed test.
inline chorale::config settings() {
  chorale::config c;
  c.device = support::test_device();
  c.deadline = std::chrono::seconds{instrumented ? 60 : 20};
  return c;
}

/// The outcome of one rank.
struct outcome {
  std::optional<chorale::error> failure;  ///< of the incorrect call, or of making the communicator
  std::string other;                      ///< text of an exception other than chorale::error
  std::optional<chorale::error> later;    ///< of a barrier afterwards
  std::chrono::steady_clock::duration took{};

  [[nodiscard]] bool failed() const { return failure || !other.empty(); }
  [[nodiscard]] bool is(chorale::errc code) const { return failure && failure->code() == code; }
  /// True if the error's text has all of `words`.
  [[nodiscard]] bool says(const std::vector<std::string>& words) const {
    return failure && std::all_of(words.begin(), words.end(), [&](const std::string& word) {
             return std::string{failure->what()}.find(word) != std::string::npos;
           });
  }
  [[nodiscard]] bool names(int rank) const {
    return failure &&
           std::find(failure->ranks().begin(), failure->ranks().end(), rank) != failure->ranks().end();
  }
  [[nodiscard]] std::string text() const {
    return (failure         ? std::string{failure->what()}
            : other.empty() ? std::string{"no failure"}
                            : other) +
           (later ? std::string{"\n    later: "} + later->what() : std::string{});
  }
};

using outcomes = std::vector<outcome>;

inline std::string describe(const outcomes& all) {
  std::string text = std::to_string(all.size()) + " ranks";
  for (std::size_t r = 0; r < all.size(); ++r) text += "\n  rank " + std::to_string(r) + ": " + all[r].text();
  return text;
}

inline void check_none_fails(const outcomes& all) {
  INFO(describe(all));
  for (const auto& one : all) CHECK(!one.failed());
}
inline void check_all_right(const outcomes& all) {
  misuse::check_none_fails(all);
  INFO(describe(all));
  for (const auto& one : all) CHECK(!one.later);
}
/// Every rank has an error of `code` whose text has all of `words`.
inline void check_all_fail(const outcomes& all, chorale::errc code,
                           const std::vector<std::string>& words = {}) {
  INFO(describe(all));
  for (const auto& one : all) {
    CHECK(one.is(code));
    CHECK(one.says(words));
  }
}
/// The same for a call that has sent nothing: the barrier afterwards succeeds.
inline void check_all_refused(const outcomes& all, chorale::errc code,
                              const std::vector<std::string>& words) {
  misuse::check_all_fail(all, code, words);
  INFO(describe(all));
  for (const auto& one : all) CHECK(!one.later);
}

/// Each of `size` ranks makes a `Comm`, runs `body(comm)`, and then tries a barrier, so that a rank without
/// an error stays until the others have detected the mistake. `body` must not use assertions of the test
/// framework, which are not thread-safe.
template <class Comm>
outcomes run(int size, const chorale::config& c, support::action<Comm> body) {
  outcomes all(static_cast<std::size_t>(size));
  support::run_anywhere(size, [&](support::any_group& group) {
    outcome& mine = all[static_cast<std::size_t>(group.rank())];
    const auto noted = [](std::optional<chorale::error>& failure, std::string& other, const auto& action) {
      try {
        action();
      } catch (const chorale::error& e) {
        failure.emplace(e);
      } catch (const std::exception& e) {
        other = e.what();
      }
    };
    noted(mine.failure, mine.other, [&] {
      Comm comm{group, c};
      const auto start = chorale::clock::now();
      noted(mine.failure, mine.other, [&] { body(comm); });
      mine.took = chorale::clock::now() - start;
      noted(mine.later, mine.other, [&] { comm.barrier(); });
    });
  });
  for (const outcome& one : all) {
    if (one.took <= std::chrono::seconds{2}) continue;
    std::cout << "an error took " << std::chrono::duration_cast<std::chrono::milliseconds>(one.took).count()
              << " ms: " << one.text() << std::endl;
    if (std::getenv("CHORALE_TEST_STRICT") != nullptr) FAIL("it took more than 2 s");
  }
  return all;
}

/// The same over the standard algorithms of a transport, with the settings of these tests.
template <class Transport>
outcomes run(int size, support::action<chorale::communicator<Transport>> body) {
  return run<chorale::communicator<Transport>>(size, settings(), body);
}

// Those of MISUSE_TRANSPORTS are in harness.cpp.
extern template outcomes run<over_rc>(int, const chorale::config&, support::action<over_rc>);
extern template outcomes run<over_ud_rdma>(int, const chorale::config&, support::action<over_ud_rdma>);
extern template outcomes run<over_hybrid>(int, const chorale::config&, support::action<over_hybrid>);

}  // namespace misuse
