// SPDX-License-Identifier: Apache-2.0
// Each system call and each allocation of a device's set-up fails once: the result is an error, with nothing
// left behind and no second fabric.
#include "shortage.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <sys/prctl.h>

#include <catch2/catch.hpp>

#include <chorale/core/error.hpp>
#include <chorale/verbs/completion_channel.hpp>
#include <chorale/verbs/completion_queue.hpp>
#include <chorale/verbs/device.hpp>
#include <chorale/verbs/protection_domain.hpp>
#include <chorale/verbs/queue_pair.hpp>
#include <chorale/verbs/registered_buffer.hpp>
#include <chorale/verbs/shared_receive_queue.hpp>

#include "../support/instrumented.hpp"
#include "footprint.hpp"
#include "programs.hpp"

using namespace soft_test;
namespace verbs = chorale::verbs;
using robustness::footprint;

namespace {

/// Makes all verbs objects of a communicator; returns the LID in its fabric.
int set_up() {
  const verbs::device device = verbs::device::open("soft0");
  const verbs::protection_domain domain(device);
  verbs::completion_channel channel(device);
  verbs::completion_queue queue(device, 64, &channel);
  verbs::shared_receive_queue receives(domain, 16);
  const verbs::registered_buffer buffer(domain, 65536, IBV_ACCESS_LOCAL_WRITE);
  verbs::queue_pair_options options{.send = &queue, .recv = &queue};
  options.srq = &receives;
  const verbs::queue_pair pair(domain, options);
  return device.port(1).lid;
}

/// A set-up with one failing call. Keeps no text on the heap, whose objects are counted.
struct attempt {
  bool failed = false;  ///< a call of that number was made
  int lid = 0;          ///< 0: no device
  char text[600]{};     ///< of the error
  footprint before{};
  footprint after{};
};

attempt try_once(shortage::call what, long nth) {
  attempt one;
  one.before = robustness::now();
  {
    const shortage::failing armed(what, nth);
    try {
      one.lid = set_up();
    } catch (const std::exception& e) {
      std::snprintf(one.text, sizeof one.text, "%s", e.what());
    }
    one.failed = shortage::failing::has_failed();
  }
  one.after = robustness::settled(one.before);
  return one;
}

/// True if an error names the failed call. Without memory in the layer above the device, it is the error of
/// `new`.
bool is_clear(const attempt& one, shortage::call what) {
  return std::strstr(one.text, "soft0") != nullptr ||
         (what == shortage::call::allocate && std::strcmp(one.text, std::bad_alloc().what()) == 0);
}

}  // namespace

#ifndef __SANITIZE_THREAD__
TEST_CASE("Each call of a device's set-up may fail", "[robustness][shortage]") {
  const bool in_company = GENERATE(false, true);
  CAPTURE(in_company);
  // Another member of the fabric, which the device under test must find, or report why not.
  child sitter([&](wire& line) {
    const node n;
    line.send(n.lid);
    line.receive<char>();
  });
  const int lid = sitter.line().receive<std::uint16_t>();
  if (!in_company) {
    sitter.line().send(char{1});
    REQUIRE(sitter.join() == "");
  }
  (void)set_up();  // makes objects that are kept
  for (const shortage::call what : shortage::all_calls) {
    for (long nth = 1;; ++nth) {
      const attempt one = try_once(what, nth);
      CAPTURE(shortage::name(what), nth, one.text);
      CHECK(one.after == one.before);
      if (!one.failed) {
        // Otherwise set-up does not make this call, and the list is wrong.
        CHECK((nth > 1 || (what == shortage::call::calloc && support::instrumented)));
        break;
      }
      if (one.lid == 0) CHECK(is_clear(one, what));
      if (one.lid != 0 && in_company) CHECK(one.lid == lid);
      REQUIRE(nth < 10'000);
    }
  }
  if (in_company) sitter.line().send(char{1});
}

TEST_CASE("A queue that cannot be made takes nothing from others", "[robustness][shortage]") {
  const auto device = verbs::device::open("soft0");
  const verbs::protection_domain domain(device);
  verbs::completion_queue queue(device, 64);
  bool failed = true;
  for (long nth = 1; failed; ++nth) {
    CAPTURE(nth);
    {
      const shortage::failing armed(shortage::call::allocate, nth);
      try {
        const verbs::shared_receive_queue receives(domain, 16);
        const verbs::queue_pair_options options{.send = &queue, .recv = &queue};
        const verbs::queue_pair pair(domain, options);
      } catch (const std::exception&) {
        // Only the resources left to the next one matter.
      }
      failed = shortage::failing::has_failed();
    }
    CHECK_NOTHROW(verbs::completion_queue(device, 64));
    CHECK_NOTHROW(verbs::shared_receive_queue(domain, 64));
  }
}

TEST_CASE("Other processes may look into this one while a device is open, and no longer", "[robustness]") {
  {
    const auto first = verbs::device::open("soft0");
    CHECK(shortage::tracer() == PR_SET_PTRACER_ANY);
    { const auto second = verbs::device::open("soft0"); }
    CHECK(shortage::tracer() == PR_SET_PTRACER_ANY);
  }
  CHECK(shortage::tracer() == 0);
}
#endif
