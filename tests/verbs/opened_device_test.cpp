// SPDX-License-Identifier: Apache-2.0
// The device that the communicators of a process share, and its own reports.
#include <atomic>
#include <dlfcn.h>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/background.hpp>
#include <chorale/transport/wire/control_channel.hpp>
#include <chorale/transport/wire/datagram_port.hpp>
#include <chorale/transport/wire/device_port.hpp>
#include <chorale/transport/wire/opened_device.hpp>

#include "../../lib/transport/wire/device_watch.hpp"
#include "../support/expect.hpp"
#include "../support/other_process.hpp"
#include "fake_driver.hpp"
#include "support.hpp"

using Catch::Contains;
using chorale::service_policy;
using namespace chorale::verbs;
using chorale::transport::control_channel;
using chorale::transport::datagram_port;
using chorale::transport::device_port;
using chorale::transport::device_watch;
using chorale::transport::opened_device;
using test::error_of;

namespace {

ibv_fork_status fork_status = IBV_FORK_UNNEEDED;
int fork_preparations = 0;
std::mutex preparing;
std::atomic<bool> is_preparing = false;

/// A fake device whose reports the test chooses.
struct reporting {
  reporting() {
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    fake::real() = {.devices = {fake::infiniband("ib0")}, .async_fd = ends[0]};
    const std::vector<const driver*> drivers{&fake::real_driver()};
    opened = opened_device::of(list_devices(drivers).at(0));
  }
  ~reporting() {
    opened.reset();
    close(ends[0]);
    close(ends[1]);
    CHECK(fake::real().total() == 0);
  }
  void report(ibv_event_type what, int port = 1) const {
    ibv_async_event event{};
    event.event_type = what;
    event.element.port_num = port;
    fake::real().events.push_back(event);
    REQUIRE(write(ends[1], "!", 1) == 1);
  }

  int ends[2]{};
  std::shared_ptr<const opened_device> opened;
};

/// The control channel of rank 0 of 1 over the device, with its service started.
struct channel_of {
  channel_of(const reporting& here, service_policy policy)
      : over(here.opened, local_port{}), channel(self, events_of(here), port_of(over), policy) {
    channel.start_service();
  }
  ~channel_of() { channel.stop_service(); }

  static std::unique_ptr<completion_channel> events_of(const reporting& here) {
    auto made = std::make_unique<completion_channel>(here.opened->device);
    made->native()->fd = here.ends[1];  // never readable
    return made;
  }
  static std::unique_ptr<datagram_port> port_of(device_port& over) {
    over.add_peer({});
    auto made = std::make_unique<datagram_port>(over, 1, datagram_port::options{});
    made->open(1);
    made->add_peer(7);
    return made;
  }

  static constexpr control_channel::identity self{};
  device_port over;
  control_channel channel;
};

}  // namespace

// Replaces libibverbs's functions, for the library too.
extern "C" {
__attribute__((visibility("default"))) ibv_fork_status ibv_is_fork_initialized() {
  is_preparing = true;
  const std::lock_guard hold{preparing};
  return fork_status;
}
__attribute__((visibility("default"))) int ibv_fork_init() {
  ++fork_preparations;
  return 0;
}
}

namespace {

/// Prints a reason if not.
bool takes_the_place_of_libibverbs() {
  if (rdma_core() == nullptr) return test::skip("built without libibverbs"), false;
  if (dlsym(RTLD_DEFAULT, "ibv_fork_init") == reinterpret_cast<void*>(&ibv_fork_init)) return true;
  return test::skip("a sanitizer keeps the program's functions from taking the place of libibverbs's"), false;
}

}  // namespace

TEST_CASE("libibverbs is told of fork() where the kernel needs it, before anything else") {
  if (!takes_the_place_of_libibverbs()) return;
  const std::vector<const driver*> drivers{rdma_core()};
  static_cast<void>(list_devices(drivers));
  CHECK(fork_preparations == 0);
  fork_status = IBV_FORK_DISABLED;
  static_cast<void>(list_devices(drivers));
  CHECK(fork_preparations > 0);
  fork_status = IBV_FORK_UNNEEDED;
}

TEST_CASE("a child opens devices, whatever its parent's threads were doing") {
  if (!takes_the_place_of_libibverbs()) return;
  const device_info none{.name = "none", .provider = rdma_core()};
  const auto outcome = [&] { return error_of([&] { opened_device::of(none); }).code(); };
  std::unique_lock<std::mutex> lasts{preparing};
  is_preparing = false;
  std::error_code in_parent;
  std::thread other{[&] { in_parent = outcome(); }};
  while (!is_preparing) std::this_thread::yield();
  CHECK(support::in_child([&] {
          alarm(20);
          lasts.unlock();
          return outcome() == chorale::errc::no_device ? 1 : 0;
        }) == 1);
  lasts.unlock();
  other.join();
  CHECK(in_parent == chorale::errc::no_device);
}

TEST_CASE("a process opens a device once; each rank opens simulated and other devices separately") {
  const auto soft0 = list_devices(std::vector<const driver*>{soft()}).at(0);
  auto one = opened_device::of(soft0);
  CHECK(opened_device::of(soft0) == one);
  const ibv_context* const context = one->device.native();
  CHECK(context != nullptr);
  one.reset();
  CHECK(opened_device::of(soft0)->device.native() != nullptr);
  fake::real() = {.devices = {fake::infiniband("ib0")}};
  const auto other = list_devices(std::vector<const driver*>{&fake::real_driver()}).at(0);
  CHECK(opened_device::of(other) != opened_device::of(other));
  CHECK(fake::real().total() == 0);
}

TEST_CASE("ports with the same settings share a choice while it is in use") {
  chorale::config c;
  c.device = "soft0";
  const device_port one{c, 0};
  const device_port same{c, 0};
  CHECK(same.opened() == one.opened());
  CHECK(same.chosen().why == one.chosen().why);
  c.device = "soft0,soft0";
  const device_port other{c, 1};
  CHECK_THAT(other.chosen().why, Contains("number 2 of the 2"));
  CHECK(other.opened() == one.opened());
}

TEST_CASE("a device's own reports name its fault until it is repaired", "[fake]") {
  const reporting here;
  device_watch& watch = *here.opened->watch;
  CHECK(watch.trouble().empty());
  here.report(IBV_EVENT_PORT_ERR);
  here.report(IBV_EVENT_PORT_ERR, 2);
  here.report(IBV_EVENT_SM_CHANGE);
  CHECK_NOTHROW(watch.look());
  CHECK_THAT(watch.trouble(), Contains("ib0: port 1: port is down") && Contains("port 2: port is down") &&
                                  Contains("s ago") && !Contains("SM_CHANGE"));
  here.report(IBV_EVENT_PORT_ACTIVE, 2);
  CHECK_THAT(watch.trouble(), Contains("port 1: port is down") && !Contains("port 2"));
  here.report(IBV_EVENT_PORT_ACTIVE);
  here.report(IBV_EVENT_LID_CHANGE);
  CHECK_THAT(watch.trouble(), Contains("LID changed") && !Contains("down"));
}

TEST_CASE("a device that has failed has failed for all its users", "[fake]") {
  const reporting here;
  here.report(IBV_EVENT_DEVICE_FATAL);
  for (int i = 0; i < 2; ++i) {
    const auto e = error_of([&] { here.opened->watch->look(); });
    CHECK(e.code() == std::errc::no_such_device);
    CHECK_THAT(e.what(), Contains("ib0: device failed or was removed") && Contains("kernel's log"));
  }
}

TEST_CASE("a rank whose service saw the flushed requests first still passes on its device's report",
          "[fake]") {
  const reporting here;
  // With this policy the service runs in this thread's waits; here it reads before the device reports.
  channel_of rank{here, service_policy::off};
  fake::real().completion = {};
  fake::real().completion.status = IBV_WC_WR_FLUSH_ERR;
  fake::real().poll_result = 1;
  chorale::background::advance_all(chorale::attention::polls);
  fake::real().poll_result = 0;
  here.report(IBV_EVENT_DEVICE_FATAL);
  const auto e = error_of([&] { rank.channel.read(); });
  CHECK(e.code() == chorale::errc::completion_failed);
  CHECK_THAT(e.what(), Contains("UD send") && Contains("rank 0's own device: ib0: device failed"));
}

TEST_CASE("the service thread's report of a failed device is passed on once", "[fake]") {
  const reporting here;
  channel_of rank{here, service_policy::event};
  CHECK_FALSE(rank.channel.read());
  here.report(IBV_EVENT_DEVICE_FATAL);
  const auto e =
      error_of([&] { support::await("the service has failed", [&] { return rank.channel.read(); }); });
  CHECK(e.code() == std::errc::no_such_device);
  const std::string_view text = e.what();
  const auto at = text.find("device failed or was removed");
  CHECK(at != text.npos);
  CHECK(at == text.rfind("device failed or was removed"));
}
