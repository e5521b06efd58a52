// SPDX-License-Identifier: Apache-2.0
// An opened device: its description, and indices outside of its tables.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "../../lib/verbs/async_event.hpp"
#include "support.hpp"

using Catch::Contains;
using namespace chorale::verbs;
using test::error_of;

TEST_CASE("the device under test is listed, opens and describes itself", "[device]") {
  const auto all = list_devices();
  const auto count = std::count_if(all.begin(), all.end(),
                                   [](const device_info& d) { return d.name == test::device_name(); });
  REQUIRE(count == 1);
  const device dev = device::open(test::device_name());
  CHECK(dev.name() == test::device_name());
  CHECK(dev.is_soft() == (test::device_name() == "soft0"));
  CHECK(dev.attributes().phys_port_cnt >= 1);
  CHECK(dev.attributes().max_cqe >= 256);
  CHECK(dev.attributes().max_qp_wr >= 64);
  const auto port = dev.port(1);
  CHECK(port.state == IBV_PORT_ACTIVE);
  CHECK(mtu_bytes(port.active_mtu) >= 256);
  CHECK_FALSE(dev.gids(1).empty());
  for (const auto& row : dev.gids(1)) CHECK(to_string(row.gid) == to_string(dev.gid(1, row.index)));
  CHECK((dev.pkey(1, 0) & 0x7fff) != 0);
}

TEST_CASE("the software device is always there, last", "[device]") {
  const auto all = list_devices();
  REQUIRE_FALSE(all.empty());
  CHECK(all.back().name == "soft0");
  const device soft0 = device::open("soft0");
  CHECK(soft0.is_soft());
  // With a real vendor's number programs would take it for that vendor's device.
  CHECK((soft0.attributes().vendor_id & 0x020000U) != 0);
}

TEST_CASE("indices outside of the device's tables", "[device]") {
  const device dev = device::open(test::device_name());
  const auto invalid = [](const auto& act, const std::string& words) {
    const auto e = error_of(act);
    CHECK(e.code() == chorale::errc::invalid_argument);
    CHECK_THAT(e.what(), Contains(words) && Contains(test::device_name()));
  };
  const auto port = dev.port(1);
  const auto beyond = static_cast<std::uint8_t>(dev.attributes().phys_port_cnt + 1);
  invalid([&] { static_cast<void>(dev.port(0)); }, "port 0");
  invalid([&] { static_cast<void>(dev.port(beyond)); }, "CHORALE_PORT");
  invalid([&] { static_cast<void>(dev.gid(1, -1)); }, "GID index -1");
  invalid([&] { static_cast<void>(dev.gid(1, port.gid_tbl_len)); }, "CHORALE_GID_INDEX");
  invalid([&] { static_cast<void>(dev.pkey(1, -1)); }, "PKey index -1");
  invalid([&] { static_cast<void>(dev.pkey(1, port.pkey_tbl_len)); }, "CHORALE_PKEY_INDEX");
  invalid([&] { query_local_port(dev, 1, 256); }, "8 bits");
  const auto unknown = error_of([] { device::open("no_such_device"); });
  CHECK(unknown.code() == chorale::errc::no_device);
  CHECK_THAT(unknown.what(), Contains("no_such_device") && Contains(test::device_name()));
}

TEST_CASE("memory of the device", "[device]") {
  const device dev = device::open(test::device_name());
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{1000003}}) {
    auto* const memory = static_cast<unsigned char*>(dev.allocate(bytes));
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % 4096 == 0);
    CHECK(std::all_of(memory, memory + bytes, [](unsigned char c) { return c == 0; }));
    std::fill(memory, memory + bytes, static_cast<unsigned char>(0xaa));
    dev.release(memory, bytes);
  }
  dev.release(nullptr, 10);
}

TEST_CASE("memory of the software device that blocks come from is in place before they are used",
          "[device]") {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto pages_present = [page](void* memory, std::size_t bytes) {
    std::vector<unsigned char> present(bytes / page);
    REQUIRE(mincore(memory, bytes, present.data()) == 0);
    return static_cast<std::size_t>(
        std::ranges::count_if(present, [](unsigned char p) { return (p & 1) != 0; }));
  };
  void* const fresh = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(fresh != MAP_FAILED);
  const bool mincore_tells = pages_present(fresh, page) == 0;
#ifdef MADV_POPULATE_WRITE
  const bool kernel_can = madvise(fresh, page, MADV_POPULATE_WRITE) == 0;
#else
  const bool kernel_can = false;
#endif
  munmap(fresh, page);
  if (!mincore_tells || !kernel_can) {
    WARN("skipped: " << (mincore_tells ? "this kernel faults no memory in on request, as Linux 5.14 does"
                                       : "mincore() reports pages as present that nobody has touched, as it "
                                         "does under the emulation of large pages"));
    return;
  }
  const device dev = device::open("soft0");
  for (const std::size_t mebibytes : {1U, 3U, 8U, 64U}) {
    const std::size_t bytes = mebibytes << 20;
    void* const memory = dev.allocate(bytes);
    // Larger memory is that of a program, which may never use it.
    CHECK(pages_present(memory, bytes) == (mebibytes <= 8 ? bytes / page : 0));
    dev.release(memory, bytes);
  }
  // Programs with many communicators use most of their mailboxes rarely.
  constexpr std::size_t each = 8U << 20;
  std::vector<void*> held;
  const auto count_in_place = [&] {
    std::size_t found = 0;
    for (int i = 0; i < 6; ++i) {
      held.push_back(dev.allocate(each));
      if (pages_present(held.back(), each) != 0) ++found;
    }
    for (void* const one : std::exchange(held, {})) dev.release(one, each);
    return found;
  };
  const std::size_t found = count_in_place();
  CHECK((found >= 1 && found <= 4));
  // What is released no longer counts.
  CHECK(count_in_place() == found);
}

TEST_CASE("registered memory", "[device]") {
  const device dev = device::open(test::device_name());
  protection_domain domain(dev);
  SECTION("bounds") {
    const registered_buffer buffer(domain, 100, test::all_access);
    CHECK(buffer.bytes() == 100);
    CHECK(buffer.contains(buffer.data(), 100));
    CHECK(buffer.contains(buffer.data() + 100, 0));
    CHECK(buffer.contains(buffer.data() + 40, 60));
    CHECK_FALSE(buffer.contains(buffer.data() + 40, 61));
    CHECK_FALSE(buffer.contains(buffer.data() - 1, 1));
    CHECK_FALSE(buffer.contains(buffer.data() + 101, 0));
    CHECK_FALSE(buffer.contains(buffer.data() + 40, SIZE_MAX));
  }
  SECTION("zero bytes") {
    registered_buffer buffer(domain, 0, test::all_access);
    CHECK(buffer.data() != nullptr);
    CHECK(buffer.span().empty());
    CHECK(buffer.native() != nullptr);
    buffer.close();
    CHECK_FALSE(buffer.contains(nullptr, 0));
  }
  SECTION("memory of the program, at any address") {
    std::vector<std::byte> own(1000);
    memory_region region(domain, own.data() + 3, 500, IBV_ACCESS_LOCAL_WRITE);
    CHECK(region.address() == own.data() + 3);
    CHECK(region.bytes() == 500);
    CHECK(region.contains(own.data() + 3, 500));
    CHECK_FALSE(region.contains(own.data() + 2, 1));
    CHECK(region.contains(own.data() + 503, 0));
    CHECK_FALSE(region.contains(own.data() + 503, 1));
    CHECK_FALSE(region.contains(own.data() + 504, 0));
    CHECK_FALSE(region.contains(own.data() + 403, 101));
    CHECK_FALSE(region.contains(own.data() + 403, SIZE_MAX));
    CHECK_THAT(error_of([&] { domain.close(); }).what(), Contains("close them first"));
    region.close();
    CHECK_FALSE(region.contains(own.data() + 3, 1));
    domain.close();
  }
  SECTION("two regions have keys of their own") {
    const registered_buffer first(domain, 64, test::all_access);
    const registered_buffer second(domain, 64, test::all_access);
    CHECK(first.lkey() != second.lkey());
    CHECK(first.rkey() != second.rkey());
  }
  SECTION("remote write needs local write") {
    const auto e = error_of([&] { registered_buffer(domain, 64, IBV_ACCESS_REMOTE_WRITE); });
    CHECK_THAT(e.what(), Contains("IBV_ACCESS_LOCAL_WRITE"));
  }
}

TEST_CASE("waiting for asynchronous events ends", "[device]") {
  using namespace std::chrono;
  const device dev = device::open(test::device_name());
  CHECK_FALSE(next_async_event(dev, milliseconds{0}));
  const auto start = steady_clock::now();
  CHECK_FALSE(next_async_event(dev, milliseconds{30}));
  CHECK(steady_clock::now() - start >= milliseconds{30});
}
