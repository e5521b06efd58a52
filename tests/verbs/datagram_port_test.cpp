// SPDX-License-Identifier: Apache-2.0
// A datagram port whose queue pair has failed.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/transport/wire/datagram_port.hpp>

#include "fake_driver.hpp"
#include "support.hpp"

using Catch::Contains;
using chorale::errc;
using namespace chorale::verbs;
using chorale::transport::datagram_port;
using test::error_of;

namespace {

/// The port of the only device of a machine.
chorale::transport::device_port port_of_fake_device() {
  fake::real() = {.devices = {fake::infiniband("ib0")}};
  const driver* const drivers[]{&fake::real_driver()};
  return {std::make_shared<chorale::transport::opened_device>(list_devices(drivers).at(0)), local_port{}};
}

}  // namespace

TEST_CASE("a datagram port whose queue pair has failed reports it at each poll", "[fake]") {
  {
    auto at = port_of_fake_device();
    at.add_peer({});
    datagram_port port{at, 1, {}};
    port.open(1);
    port.add_peer(7);
    const std::byte payload{};
    CHECK(port.send(0, {std::span{&payload, 1}}));
    CHECK_THROWS_AS(port.send(1, {std::span{&payload, 1}}), std::out_of_range);
    CHECK_THROWS_AS(port.add_peer(8), std::out_of_range);
    // The completion of a queue pair in the error state, and of one that got an invalid address before that.
    for (const ibv_wc_status status : {IBV_WC_WR_FLUSH_ERR, IBV_WC_LOC_PROT_ERR}) {
      fake::real().completion = {};
      fake::real().completion.status = status;
      fake::real().poll_result = 1;
      for (int i = 0; i < 2; ++i) {
        const auto receiving =
            error_of([&] { port.poll([](std::span<const std::byte>, const ibv_wc&) { FAIL(); }); });
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

TEST_CASE("a handler of datagrams may poll: each datagram is handled once, and its buffer posted again",
          "[fake]") {
  {
    auto at = port_of_fake_device();
    datagram_port port{at, 1, {}};
    port.open(1);
    fake::real().completion = {};
    fake::real().completion.byte_len = 40;
    fake::real().completion.wr_id = 1;
    fake::real().poll_result = 2;
    std::vector<std::uint64_t> handled;
    const bool has_any = port.poll([&](std::span<const std::byte>, const ibv_wc& outer) {
      if (handled.empty()) {
        fake::real().completion.wr_id = 2;
        port.poll([&](std::span<const std::byte>, const ibv_wc& inner) { handled.push_back(inner.wr_id); });
      }
      handled.push_back(outer.wr_id);
    });
    CHECK(has_any);
    CHECK(handled == std::vector<std::uint64_t>{2, 2, 1, 1});
    fake::real().poll_result = 0;
    CHECK_FALSE(port.poll([](std::span<const std::byte>, const ibv_wc&) { FAIL(); }));
  }
  CHECK(fake::real().total() == 0);
}

TEST_CASE("a port that only sends polls before half of the send queue is in use", "[fake]") {
  {
    auto at = port_of_fake_device();
    at.add_peer({});
    constexpr int sends = 16;
    datagram_port port{at, 1, {.sends = sends}};
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

    // No send completes: the queue fills, and never overruns.
    fake::real().poll_result = 0;
    int taken = 0;
    while (taken <= sends && send()) ++taken;
    CHECK(sent - 1 + taken == sends);
    CHECK_FALSE(port.is_drained());
  }
  CHECK(fake::real().total() == 0);
}

namespace {

constexpr std::size_t grh_bytes = 40;
using grh = std::array<std::byte, grh_bytes>;

ibv_gid gid_of(std::initializer_list<int> last_bytes) {
  ibv_gid gid{};
  std::transform(last_bytes.begin(), last_bytes.end(), gid.raw + sizeof gid.raw - last_bytes.size(),
                 [](int byte) { return static_cast<std::uint8_t>(byte); });
  return gid;
}
/// For InfiniBand, RoCE v1, and RoCE v2 on IPv6.
grh header_from(const ibv_gid& gid) {
  grh bytes{};
  bytes[0] = std::byte{0x60};
  std::memcpy(bytes.data() + 8, gid.raw, sizeof gid.raw);
  return bytes;
}
/// For RoCE v2 on IPv4, where half of the header is undefined.
grh ip_header_from(const ibv_gid& gid, int version = 0x45) {
  grh bytes;
  bytes.fill(std::byte{0xdb});
  bytes[20] = static_cast<std::byte>(version);
  std::memcpy(bytes.data() + 32, gid.raw + 12, 4);
  return bytes;
}

}  // namespace

TEST_CASE("a datagram's sender is the rank with the queue pair and address of the completion", "[fake]") {
  {
    auto at = port_of_fake_device();
    datagram_port port{at, 2, {}};
    const ibv_gid v6 = gid_of({0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8});
    const ibv_gid v4 = gid_of({0xff, 0xff, 10, 0, 0, 7});
    for (const endpoint_address& address : {endpoint_address{v6, 5}, endpoint_address{v4, 0}}) {
      at.add_peer(address);
      port.add_peer(0x111);
    }
    std::array<std::byte, grh_bytes + 1> place{};
    const auto is_from = [&](int rank, const grh* header, std::uint16_t lid, std::uint32_t number) {
      if (header != nullptr) std::copy(header->begin(), header->end(), place.begin());
      ibv_wc wc{};
      wc.src_qp = number;
      wc.slid = lid;
      wc.wc_flags = header != nullptr ? unsigned{IBV_WC_GRH} : 0U;
      return port.is_from(rank, std::span{place}.subspan(grh_bytes), wc);
    };
    // Within an InfiniBand subnet by the LID; the bytes before the data are undefined.
    CHECK(is_from(0, nullptr, 5, 0x111));
    CHECK_FALSE(is_from(0, nullptr, 6, 0x111));
    CHECK_FALSE(is_from(0, nullptr, 5, 0x112));
    // By the GID if there is a GRH: between subnets the LID is the router's.
    const grh own = header_from(v6);
    const grh other = header_from(gid_of({0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 9}));
    CHECK(is_from(0, &own, 99, 0x111));
    CHECK_FALSE(is_from(0, &other, 5, 0x111));
    CHECK_FALSE(is_from(0, &own, 5, 0x112));
    // IPv4, in the header of the RoCE version.
    const grh of_v1 = header_from(v4);
    const grh of_v2 = ip_header_from(v4);
    const grh no_ip = ip_header_from(v4, 0x60);
    const grh another_host = ip_header_from(gid_of({0xff, 0xff, 10, 0, 0, 8}));
    CHECK(is_from(1, &of_v1, 0, 0x111));
    CHECK(is_from(1, &of_v2, 0, 0x111));
    CHECK_FALSE(is_from(1, &of_v2, 0, 0x112));
    CHECK_FALSE(is_from(1, &no_ip, 0, 0x111));
    CHECK_FALSE(is_from(1, &another_host, 0, 0x111));
    // An IPv4 header identifies only a rank that has such an address.
    CHECK_FALSE(is_from(0, &of_v2, 5, 0x111));
  }
  CHECK(fake::real().total() == 0);
}
