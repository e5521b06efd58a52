// SPDX-License-Identifier: Apache-2.0
// How a child of fork() treats its parent's objects and its own.
#include <atomic>
#include <optional>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <catch2/catch.hpp>

#include <chorale/core/config.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/operator_tag.hpp>
#include <chorale/core/origin.hpp>
#include <chorale/model/tuning.hpp>
#include <chorale/transport/observers/observer.hpp>
#include <chorale/verbs/handle.hpp>

#include "../support/other_process.hpp"

namespace {

using chorale::detail::origin;
using chorale::detail::process_bound;
using chorale::detail::process_bound_ptr;
using chorale::verbs::driver;
using chorale::verbs::handle;

int ended = 0;

struct counted {
  ~counted() { ++ended; }
};

driver made_up(bool knows_children) {
  driver all{};
  all.name = "made up";
  all.knows_children = knows_children;
  all.dealloc_pd = [](ibv_pd*) {
    ++ended;
    return 0;
  };
  return all;
}

}  // namespace

TEST_CASE("a child recognizes objects of its parent", "[origin]") {
  const origin mine;
  CHECK(mine.is_here());
  CHECK(support::in_child([&] {
          const origin own;
          const bool grandchild_knows =
              support::in_child([&] { return static_cast<int>(mine.is_here() || own.is_here()); }) == 0;
          return static_cast<int>(!mine.is_here() && own.is_here() && grandchild_knows);
        }) == 1);
  CHECK(mine.is_here());
}

TEST_CASE("a child made without fork() handlers recognizes objects of its parent", "[origin]") {
  const origin mine;
  void* const page = mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED);
  REQUIRE(madvise(page, 1, MADV_WIPEONFORK) == 0);
  auto* const byte = static_cast<volatile unsigned char*>(page);
  *byte = 1;
  const pid_t child = _Fork();
  if (child == 0) {
    const origin own;
    _exit(*byte != 0 ? 18 : !mine.is_here() && own.is_here() ? 17 : 1);
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  munmap(page, 1);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 18)
    WARN("skipped: this kernel, or QEMU in its place, accepts MADV_WIPEONFORK and does not wipe the page");
  else
    CHECK(WEXITSTATUS(status) == 17);
  CHECK(mine.is_here());
}

TEST_CASE("objects are destroyed only in the process that made them", "[origin]") {
  ended = 0;
  std::optional<process_bound<counted>> in_place{std::in_place, std::in_place};
  process_bound_ptr<counted> owned{new counted};
  process_bound_ptr<counted> other;
  process_bound<counted> nothing;
  CHECK(support::in_child([&] {
          in_place.reset();
          owned.reset();
          const int of_parent = ended;
          other = process_bound_ptr<counted>{new counted};
          other.reset();
          in_place.emplace(std::in_place);
          in_place.reset();
          return of_parent * 10 + ended;
        }) == 2);
  in_place.reset();
  owned.reset();
  CHECK(ended == 2);
}

TEST_CASE("device objects are destroyed in a child only if the device supports children", "[origin]") {
  for (const bool knows : {false, true}) {
    const driver provider = made_up(knows);
    ibv_pd pd{};
    ended = 0;
    handle<ibv_pd, &driver::dealloc_pd> mine{provider, &pd};
    CHECK(support::in_child([&] {
            const auto moved = std::move(mine);
            return static_cast<int>(moved.get() == &pd) + (mine.close() != 0 ? 10 : 0);
          }) == 1);
    CHECK(support::in_child([&] {
            const int status = mine.close();
            return ended * 10 + (status == 0 && mine.get() == nullptr ? 1 : 0);
          }) == (knows ? 11 : 1));
    CHECK(mine.close() == 0);
    CHECK(ended == 1);
  }
}

TEST_CASE("a child finds no lock of the library held by another thread of its parent", "[origin]") {
  chorale::config no_table;
  no_table.tuning = "/nowhere";
  // Each of these calls takes a lock that is global to the process.
  const auto use_all = [&] {
    static_cast<void>(chorale::describe_operator(0xdeadbeef));
    static_cast<void>(chorale::process_observers());
    try {
      static_cast<void>(chorale::model::tuning_table::of(no_table));
    } catch (const chorale::error&) {
    }
  };
  std::atomic<bool> over{false};
  std::thread other{[&] {
    while (!over) use_all();
  }};
  int well = 0;
  for (int i = 0; i < 200; ++i)
    well += support::in_child([&] {
              alarm(30);  // ends a child that waits for a thread which it does not have
              use_all();
              return 7;
            }) == 7;
  over = true;
  other.join();
  CHECK(well == 200);
}
