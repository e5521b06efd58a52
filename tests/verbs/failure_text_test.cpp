// SPDX-License-Identifier: Apache-2.0
// Failures of verbs calls: the text names the call, the object, the device and the remedy; the code is the
// errno.
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <chorale/verbs/address_handle.hpp>
#include <chorale/verbs/memory_region.hpp>

#include "../../lib/verbs/diagnosis.hpp"
#include "../../lib/verbs/multicast_membership.hpp"
#include "fake_driver.hpp"
#include "support.hpp"

using Catch::Contains;
using namespace chorale::verbs;
using fake::refuse;
using fake::scene;
using test::error_of;

namespace {

void check(const chorale::error& e, int errnum, std::initializer_list<const char*> words) {
  CHECK(e.code() == std::error_code(errnum, std::generic_category()));
  for (const char* word : words) CHECK_THAT(e.what(), Contains(word));
}

}  // namespace

TEST_CASE("devices that cannot be opened", "[fake]") {
  const scene here;
  SECTION("unknown name lists the names there are") {
    fake::real().devices.push_back(fake::roce("fake1"));
    const auto e = error_of([&] { device::open("mlx5_0", here.drivers); });
    CHECK(e.code() == chorale::errc::no_device);
    CHECK_THAT(e.what(), Contains("'mlx5_0'") && Contains("fake0, fake1") && Contains("CHORALE_DEVICE"));
  }
  SECTION("no device at all") {
    fake::real().devices.clear();
    CHECK_THAT(error_of([&] { device::open("mlx5_0", here.drivers); }).what(), Contains("there are: none"));
  }
  SECTION("the list itself fails") {
    fake::real().list_errno = EPERM;
    CHECK_THAT(error_of([&] { device::open("mlx5_0", here.drivers); }).what(),
               Contains("there are: none") && Contains("Operation not permitted"));
    std::vector<std::string> remarks;
    CHECK(list_devices(here.drivers, &remarks).empty());
    REQUIRE(remarks.size() == 1);
    CHECK_THAT(remarks[0], Contains("rdma-core") && Contains("Operation not permitted"));
    CHECK(list_devices(here.drivers).empty());
  }
  SECTION("a kernel without RDMA is not worth a remark") {
    fake::real().list_errno = ENOSYS;
    std::vector<std::string> remarks;
    CHECK(list_devices(here.drivers, &remarks).empty());
    CHECK(remarks.empty());
  }
  SECTION("permission") {
    fake::real().devices[0].open_errno = EACCES;
    check(error_of([&] { device::open("fake0", here.drivers); }), EACCES,
          {"ibv_open_device on fake0", "/dev/infiniband/uverbs0", "group 'rdma'", "Permission denied"});
  }
  SECTION("another reason") {
    fake::real().devices[0].open_errno = ENOENT;
    check(error_of([&] { device::open("fake0", here.drivers); }), ENOENT, {"ibv_devinfo -d fake0", "soft0"});
  }
  SECTION("no attributes") {
    refuse("query_device", EIO);
    check(error_of([&] { device::open("fake0", here.drivers); }), EIO, {"ibv_query_device on fake0"});
    CHECK(fake::real().live["context"] == 0);
  }
  CHECK(fake::real().live["list"] == 0);
}

TEST_CASE("objects that cannot be created", "[fake]") {
  const scene here;
  const device dev = device::open("fake0", here.drivers);
  protection_domain domain(dev);
  completion_queue queue(dev, 8);
  std::byte memory[64];

  refuse("reg_mr", ENOMEM);
  check(error_of([&] { memory_region(domain, memory, 64, 0); }), ENOMEM,
        {"ibv_reg_mr on 64 bytes", "fake0", "RLIMIT_MEMLOCK is", "ulimit -l"});
  const std::string limit =
      memlock_limit() == UINT64_MAX ? "is unlimited" : fmt::format("is {} bytes", memlock_limit());
  CHECK_THAT(error_of([&] { memory_region(domain, memory, 64, 0); }).what(), Contains(limit));
  refuse("reg_mr", EFAULT);
  check(error_of([&] { memory_region(domain, memory, 64, 0); }), EFAULT, {"not mapped"});
  refuse("reg_mr", EINVAL);
  check(error_of([&] { memory_region(domain, memory, 64, IBV_ACCESS_REMOTE_WRITE); }), EINVAL,
        {"need IBV_ACCESS_LOCAL_WRITE"});
  CHECK(error_of([&] { memory_region(domain, memory, 0, 0); }).code() == chorale::errc::invalid_argument);
  CHECK(error_of([&] { memory_region(domain, nullptr, 1, 0); }).code() == chorale::errc::invalid_argument);

  refuse("create_cq", EINVAL);
  check(error_of([&] { completion_queue(dev, 1001); }), EINVAL, {"1001 entries", "1 to 1000"});
  check(error_of([&] { completion_queue(dev, 0); }), EINVAL, {"1 to 1000"});
  refuse("resize_cq", EOPNOTSUPP);
  check(error_of([&] { queue.resize(20); }), EOPNOTSUPP,
        {"ibv_resize_cq to 20", "8 entries", "cannot do that"});

  refuse("create_srq", EINVAL);
  check(error_of([&] { shared_receive_queue(domain, 301, 1); }), EINVAL,
        {"301 requests", "1 to 300", "up to 20"});
  refuse("create_comp_channel", EMFILE);
  check(error_of([&] { completion_channel{dev}; }), EMFILE, {"ulimit -n", "fake0"});
  refuse("alloc_pd", ENODEV);
  check(error_of([&] { protection_domain{dev}; }), ENODEV, {"ibv_alloc_pd on fake0", "removed"});
  refuse("create_ah", EINVAL);
  check(error_of([&] {
          ibv_ah_attr path{};
          path.dlid = 9;
          path.port_num = 2;
          address_handle(domain, path);
        }),
        EINVAL, {"LID 9 by port 2", "fake0"});
}

TEST_CASE("queue pairs that cannot be created", "[fake]") {
  const scene here;
  const device dev = device::open("fake0", here.drivers);
  protection_domain domain(dev);
  completion_queue queue(dev, 8);
  const auto make = [&](queue_pair_options wanted) {
    wanted.send = wanted.recv = &queue;
    return error_of([&] { queue_pair(domain, wanted); });
  };
  CHECK(error_of([&] { queue_pair(domain, {.send = &queue}); }).code() == chorale::errc::invalid_argument);
  CHECK(error_of([&] { queue_pair(domain, {.recv = &queue}); }).code() == chorale::errc::invalid_argument);
  CHECK(make({.type = IBV_QPT_RAW_PACKET}).code() == chorale::errc::unsupported);
  refuse("create_qp", EINVAL);
  check(
      make({.send_depth = 501, .recv_sges = 31}), EINVAL,
      {"ibv_create_qp (RC) on fake0", "send_depth 501", "max_qp_wr of 500", "recv_sges 31", "max_sge of 30"});
  check(make({.inline_bytes = 5000}), EINVAL, {"5000 inline bytes"});
  refuse("create_qp", ENOMEM);
  check(make({}), ENOMEM, {"RLIMIT_MEMLOCK"});
  fake::real().failures.clear();
  const queue_pair granted(domain, {.send = &queue, .recv = &queue, .inline_bytes = 60});
  CHECK(granted.inline_bytes() == 64);
  CHECK(granted.bytes_in_order() > 128);
}

TEST_CASE("work that is refused", "[fake]") {
  const scene here;
  const device dev = device::open("fake0", here.drivers);
  protection_domain domain(dev);
  completion_queue queue(dev, 8);
  shared_receive_queue srq(domain, 5, 2);
  queue_pair pair(domain,
                  {.send = &queue, .recv = &queue, .send_depth = 33, .recv_depth = 44, .send_sges = 3});
  ibv_send_wr send{};
  ibv_recv_wr receive{};

  fake::real().state = IBV_QPS_RTR;
  fake::real().post_result = ENOMEM;
  check(error_of([&] { pair.post_send(send); }), ENOMEM,
        {"ibv_post_send on QP 0x12 (RC) of fake0 in state RTR", "33 send requests", "poll"});
  check(error_of([&] { pair.post_recv(receive); }), ENOMEM, {"ibv_post_recv", "44 receive requests"});
  check(error_of([&] { srq.post_recv(receive); }), ENOMEM, {"ibv_post_srq_recv", "5 requests", "fake0"});
  fake::real().post_result = EINVAL;
  check(error_of([&] { pair.post_send(send); }), EINVAL, {"needs RTS", "3 gather", "state RTR"});
  ibv_send_wr second{};
  send.next = &second;
  ibv_send_wr* bad = nullptr;
  CHECK(pair.try_post_send(send, &bad) == EINVAL);
  CHECK(bad == &second);
  errno = ENOMEM;  // some providers return -1 and set errno
  fake::real().post_result = -1;
  CHECK(pair.try_post_recv(receive) == ENOMEM);
  errno = EIO;
  check(error_of([&] { queue.request_notification(); }), EIO, {"ibv_req_notify_cq", "8 entries of fake0"});

  fake::real().poll_result = -1;
  ibv_wc room{};
  const auto broken = error_of([&] { queue.poll({&room, 1}); });
  CHECK(broken.code() == chorale::errc::verbs_failed);
  CHECK_THAT(broken.what(), Contains("overran") && Contains("fake0"));

  refuse("modify_qp", EINVAL);
  fake::real().state = IBV_QPS_INIT;
  check(error_of([&] { pair.to_ready_to_send(connection{}); }), EINVAL,
        {"from INIT to RTS", "QP 0x12 (RC) of fake0", "RTS follows RTR"});
  refuse("modify_qp", ETIMEDOUT);
  check(error_of([&] { pair.to_ready_to_receive(connection{}); }), ETIMEDOUT, {"cannot be resolved"});
  refuse("query_qp", EIO);
  check(error_of([&] { pair.to_reset(); }), ETIMEDOUT, {"from ? to RESET"});
  refuse("modify_srq", EINVAL);
  check(error_of([&] { srq.arm_limit(7); }), EINVAL, {"limit 7", "below its 5"});
}

TEST_CASE("transitions for another type of queue pair, numbers over 24 bits", "[fake]") {
  const scene here;
  const device dev = device::open("fake0", here.drivers);
  protection_domain domain(dev);
  completion_queue queue(dev, 8);
  queue_pair stream(domain, {.type = IBV_QPT_RC, .send = &queue, .recv = &queue});
  queue_pair datagram(domain, {.type = IBV_QPT_UD, .send = &queue, .recv = &queue});
  const auto invalid = [](const auto& act, const char* words) {
    const auto e = error_of(act);
    CHECK(e.code() == chorale::errc::invalid_argument);
    CHECK_THAT(e.what(), Contains(words));
  };
  invalid([&] { stream.to_ready_to_receive(); }, "UD");
  invalid([&] { stream.to_ready_to_send(1); }, "UD");
  invalid([&] { datagram.to_ready_to_receive(connection{}); }, "RC and UC");
  invalid([&] { datagram.to_ready_to_send(connection{}); }, "RC and UC");
  invalid([&] { stream.to_ready_to_receive({.remote_qp = 1U << 24}); }, "remote_qp 0x1000000");
  invalid([&] { stream.to_ready_to_receive({.remote_psn = 1U << 24}); }, "remote_psn");
  invalid([&] { stream.to_ready_to_send({.local_psn = 1U << 24}); }, "local_psn");
  invalid([&] { datagram.to_ready_to_send(1U << 24); }, "psn");
  ibv_gid group{};
  group.raw[0] = 0xfe;
  invalid([&] { multicast_membership(datagram, group); }, "no multicast GID");
  group.raw[0] = 0xff;
  invalid([&] { multicast_membership(stream, group); }, "only UD");
}
