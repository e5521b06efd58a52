// SPDX-License-Identifier: Apache-2.0
// One rank of three lacks a resource while it makes its communicator, each resource in turn: its error names
// it, nothing is left behind, and the others are notified at once.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <string>

#include <chorale/bootstrap/in_process.hpp>

#include "../misuse/harness.hpp"
#include "footprint.hpp"

using robustness::footprint;

namespace {

constexpr int ranks = 3;
constexpr int unlucky = 1;

/// True if the rank itself may get a std::bad_alloc.
constexpr bool is_of_memory(shortage::call what) {
  return what == shortage::call::calloc || what == shortage::call::allocate;
}

/// The outcome of one rank. Keeps no text on the heap, whose objects are counted.
struct fate {
  bool made = false;      ///< it has a communicator, and went through a barrier
  bool no_error = false;  ///< its exception is not a chorale::error
  char text[700]{};
  long milliseconds = 0;
};

struct attempt {
  bool failed = false;  ///< a call of that number was made
  fate ranks[::ranks]{};
  footprint before{};
  footprint after{};
};

template <class Comm>
attempt try_once(shortage::call what, long nth, long in_a_row = 1) {
  attempt one;
  one.before = robustness::now();
  {
    const auto settings = misuse::settings();
    chorale::bootstrap::run_in_process(ranks, [&](auto& group) {
      fate& mine = one.ranks[group.rank()];
      const auto begin = std::chrono::steady_clock::now();
      try {
        std::optional<Comm> comm;
        if (group.rank() == unlucky) {
          const shortage::failing armed(what, nth, in_a_row);
          try {
            comm.emplace(group, settings);
          } catch (...) {
            one.failed = shortage::failing::has_failed();
            throw;
          }
          one.failed = shortage::failing::has_failed();
        } else {
          comm.emplace(group, settings);
        }
        comm->barrier();
        mine.made = true;
      } catch (const chorale::error& e) {
        std::snprintf(mine.text, sizeof mine.text, "%s", e.what());
      } catch (const std::exception& e) {
        mine.no_error = true;
        std::snprintf(mine.text, sizeof mine.text, "%s", e.what());
      }
      mine.milliseconds = static_cast<long>(
          std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin)
              .count());
    });
  }
  one.after = robustness::settled(one.before);
  return one;
}

}  // namespace

TEMPLATE_TEST_CASE("A rank that lacks something tells the others", "[robustness][joining]",
                   MISUSE_TRANSPORTS) {
  using comm = chorale::communicator<TestType>;
  for (int i = 0; i < 2; ++i)
    (void)try_once<comm>(shortage::call::bind, 1'000'000);  // makes objects that are kept
  // There are many allocations: only with CHORALE_TEST_EVERY=1 does each of them fail.
  const bool every = std::getenv("CHORALE_TEST_EVERY") != nullptr;
  const long limit =
      std::getenv("CHORALE_TEST_STRICT") != nullptr ? 2'000 : misuse::settings().deadline.count() / 2;
  long slowest = 0;
  std::string which;
  const auto try_all = [&](shortage::call what, long in_a_row) {
    for (long nth = 1;; nth += every || (nth < 40 && in_a_row == 1) ? 1 : 17) {
      const attempt one = try_once<comm>(what, nth, in_a_row);
      CAPTURE(shortage::name(what), nth, in_a_row);
      for (int r = 0; r < ranks; ++r) {
        CAPTURE(r);
        const fate& f = one.ranks[r];
        if (f.milliseconds > slowest) {
          slowest = f.milliseconds;
          which = std::string{shortage::name(what)} + " " + std::to_string(nth) + ": " + f.text;
        }
        // Otherwise the others noticed only the silence.
        CHECK(f.milliseconds < limit);
        INFO(f.text);
        if (!one.ranks[unlucky].made) {
          CHECK_FALSE(f.made);
          // If the bootstrap has no memory for its exchange, the rank seems to have ended.
          const bool no_exchange = is_of_memory(what) && r == unlucky && f.no_error;
          if (!no_exchange) CHECK(std::strstr(f.text, "rank 1") != nullptr);
          CHECK((no_exchange || !f.no_error));
        } else {
          CHECK(f.made);
        }
      }
      CHECK(one.after == one.before);
      if (!one.failed) break;
    }
  };
  for (const shortage::call what : shortage::all_calls) try_all(what, 1);
  for (const long in_a_row : {2L, 4L, shortage::without_end}) try_all(shortage::call::allocate, in_a_row);
  std::cout << "the slowest rank was told after " << slowest << " ms (" << which << ")" << std::endl;
}

namespace {

/// The outcome of one rank's part, and of its parent afterwards.
struct parted {
  bool made = false;   ///< `take` returned it
  bool works = false;  ///< and it went through a barrier
  bool no_error = false;
  bool sound = false;  ///< the parent still works
  char text[700]{};
};

template <class Comm>
bool part_once(shortage::call what, long nth, parted (&all)[ranks]) {
  bool failed = false;
  chorale::bootstrap::run_in_process(ranks, [&](auto& group) {
    parted& mine = all[group.rank()];
    const auto note = [&](const char* text) { std::snprintf(mine.text, sizeof mine.text, "%s", text); };
    Comm parent{group, misuse::settings()};
    parent.barrier();
    // Without this exchange, the following could make a rank fail that is still in that barrier.
    static_cast<void>(group.exchange({}, std::chrono::milliseconds{0}));
    try {
      std::optional<Comm> made;
      if (group.rank() == unlucky) {
        const shortage::failing armed(what, nth);
        try {
          made = parent.isplit(0).take();
        } catch (...) {
          failed = shortage::failing::has_failed();
          throw;
        }
        failed = shortage::failing::has_failed();
      } else {
        made = parent.isplit(0).take();
      }
      mine.made = true;
      made->barrier();
      mine.works = true;
    } catch (const chorale::error& e) {
      note(e.what());
    } catch (const std::exception& e) {
      mine.no_error = true;
      note(e.what());
    }
    try {
      parent.barrier();
      mine.sound = true;
    } catch (const chorale::error&) {
      // It failed with the part.
    }
  });
  return failed;
}

}  // namespace

TEMPLATE_TEST_CASE("A rank that lacks something for its part tells the others, and the parent goes on",
                   "[robustness][joining]", chorale::transport::rc, chorale::transport::ud_rdma) {
  const bool every = std::getenv("CHORALE_TEST_EVERY") != nullptr;
  for (const shortage::call what : shortage::all_calls) {
    for (long nth = 1;; nth += every || nth < 10 ? 1 : 23) {
      parted all[ranks];
      const bool failed = part_once<chorale::communicator<TestType>>(what, nth, all);
      CAPTURE(shortage::name(what), nth);
      for (int r = 0; r < ranks; ++r) {
        INFO("rank " << r << ": " << all[r].text);
        CHECK(all[r].works == all[unlucky].works);
        // Without memory for the call itself, the call and the parent fail, possibly after the call has
        // completed on other ranks.
        CHECK((all[r].made == all[r].works || what == shortage::call::allocate));
        CHECK((all[r].made || r == unlucky || std::strstr(all[r].text, "rank 1") != nullptr));
        CHECK((!all[r].no_error || (r == unlucky && is_of_memory(what))));
        CHECK((all[r].sound || what == shortage::call::allocate));
      }
      if (!failed) break;
    }
  }
}
