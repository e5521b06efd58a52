// A datagram port whose queue pair has failed.
#include <memory>
#include <span>

#include <catch2/catch.hpp>

#include <chorale/transport/datagram_port.hpp>

#include "fake_driver.hpp"
#include "support.hpp"

using Catch::Contains;
using chorale::errc;
using namespace chorale::verbs;
using chorale::transport::datagram_port;
using test::error_of;

TEST_CASE("a datagram port that is out of order says so each time that it looks", "[fake]") {
  fake::real() = {.devices = {fake::infiniband("ib0")}};
  {
    const driver* const drivers[]{&fake::real_driver()};
    chorale::transport::device_port at{
        std::make_shared<chorale::transport::opened_device>(list_devices(drivers).at(0)), local_port{}};
    at.add_peer({});
    datagram_port port{at, {}};
    port.open(1);
    port.add_peer(7);
    const std::byte payload{};
    CHECK(port.send(0, {std::span{&payload, 1}}));
    // What a queue pair in the error state gives back, and one that was given a bad address before that.
    for (const ibv_wc_status status : {IBV_WC_WR_FLUSH_ERR, IBV_WC_LOC_PROT_ERR}) {
      fake::real().completion = {};
      fake::real().completion.status = status;
      fake::real().poll_result = 1;
      for (int i = 0; i < 2; ++i) {
        const auto receiving = error_of([&] { port.poll([](std::span<const std::byte>) { FAIL(); }); });
        CHECK(receiving.code() == errc::completion_failed);
        CHECK_THAT(receiving.what(), Contains("UD receive"));
        const auto reaping = error_of([&] { port.reap(); });
        CHECK(reaping.code() == errc::completion_failed);
        CHECK_THAT(reaping.what(), Contains("UD send"));
      }
      fake::real().poll_result = 0;
    }
  }
  CHECK(fake::real().total() == 0);
}

TEST_CASE("who only sends looks what became of it before half of the send queue is in use", "[fake]") {
  fake::real() = {.devices = {fake::infiniband("ib0")}};
  {
    const driver* const drivers[]{&fake::real_driver()};
    chorale::transport::device_port at{
        std::make_shared<chorale::transport::opened_device>(list_devices(drivers).at(0)), local_port{}};
    at.add_peer({});
    constexpr int sends = 16;
    datagram_port port{at, {.sends = sends}};
    port.open(1);
    port.add_peer(7);
    const std::byte payload{};
    const auto send = [&] { return port.send(0, {std::span{&payload, 1}}); };
    fake::real().completion = {};
    fake::real().completion.status = IBV_WC_LOC_PROT_ERR;
    fake::real().poll_result = 1;
    int sent = 0;
    const auto failed = error_of([&] {
      for (; sent <= sends; ++sent) static_cast<void>(send());
    });
    CHECK(failed.code() == errc::completion_failed);
    CHECK(sent <= sends / 2);

    // None completes: the queue fills, and is never overrun.
    fake::real().poll_result = 0;
    int taken = 0;
    while (taken <= sends && send()) ++taken;
    CHECK(sent - 1 + taken == sends);
    CHECK_FALSE(port.is_drained());
  }
  CHECK(fake::real().total() == 0);
}
