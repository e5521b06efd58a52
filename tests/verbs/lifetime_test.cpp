// SPDX-License-Identifier: Apache-2.0
// Every class: created, moved, closed, closed twice, failing; no object is left over and none destroyed
// twice.
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/verbs/address_handle.hpp>

#include "../../lib/verbs/multicast_membership.hpp"
#include "fake_driver.hpp"
#include "support.hpp"

using Catch::Contains;
using namespace chorale::verbs;
using fake::refuse;
using test::error_of;

namespace {

/// A machine with one device, which must have no objects at the end.
struct scene : fake::scene {
  ~scene() { CHECK(fake::real().total() == 0); }
};

int live(const char* kind) {
  return fake::real().live[kind];
}
void permit() {
  fake::real().failures.clear();
}

ibv_gid group() {
  ibv_gid gid{};
  gid.raw[0] = 0xff;
  gid.raw[15] = 1;
  return gid;
}

/// Takes two objects of one class through their lives. `kind` and `destroy` are the fake driver's names.
template <class Object>
void live_through(Object first, Object second, const char* kind, const char* destroy) {
  const int start = live(kind);
  const auto* const native = first.native();
  REQUIRE(native != nullptr);

  Object moved = std::move(first);
  CHECK(moved.native() == native);
  CHECK(first.native() == nullptr);
  CHECK(live(kind) == start);

  second = std::move(moved);  // destroys its previous object
  CHECK(second.native() == native);
  CHECK(live(kind) == start - 1);
  Object& itself = second;
  second = std::move(itself);
  CHECK(second.native() == native);

  refuse(destroy, EBUSY);
  const auto refused = error_of([&] { second.close(); });
  CHECK(refused.code() == std::errc::device_or_resource_busy);
  CHECK_THAT(refused.what(), Contains("fake0"));
  CHECK(second.native() == native);  // kept, so that closing can be retried
  permit();

  second.close();
  CHECK(second.native() == nullptr);
  CHECK(live(kind) == start - 2);
  second.close();
  first.close();
  CHECK(live(kind) == start - 2);
}

}  // namespace

TEST_CASE("each verbs object is destroyed once, whether closed, moved or abandoned", "[fake]") {
  const scene here;
  device dev = device::open("fake0", here.drivers);
  protection_domain domain(dev);
  completion_channel channel(dev);
  completion_queue queue(dev, 8, &channel);
  std::byte memory[64];
  const queue_pair_options options{.type = IBV_QPT_UD, .send = &queue, .recv = &queue};
  ibv_ah_attr path{};

  const auto check = [&](auto&& make, const char* kind, const char* destroy) {
    const int start = live(kind);
    {
      INFO(kind);
      auto first = make();
      auto second = make();
      CHECK(live(kind) == start + 2);
      live_through(std::move(first), std::move(second), kind, destroy);
    }
    CHECK(live(kind) == start);
  };
  check([&] { return device::open("fake0", here.drivers); }, "context", "close_device");
  check([&] { return protection_domain(dev); }, "pd", "dealloc_pd");
  check([&] { return memory_region(domain, memory, sizeof memory, 0); }, "mr", "dereg_mr");
  check([&] { return completion_channel(dev); }, "channel", "destroy_comp_channel");
  check([&] { return completion_queue(dev, 4); }, "cq", "destroy_cq");
  check([&] { return shared_receive_queue(domain, 4); }, "srq", "destroy_srq");
  check([&] { return queue_pair(domain, options); }, "qp", "destroy_qp");
  check([&] { return address_handle(domain, path); }, "ah", "destroy_ah");
}

TEST_CASE("a registered buffer gives back its region first, then its memory", "[fake]") {
  const scene here;
  device dev = device::open("fake0", here.drivers);
  protection_domain domain(dev);
  {
    registered_buffer first(domain, 100, 0);
    registered_buffer second(domain, 200, 0);
    CHECK(live("memory") == 2);
    std::byte* const data = first.data();
    second = std::move(first);
    CHECK(second.data() == data);
    CHECK(second.bytes() == 100);
    CHECK(live("memory") == 1);
    CHECK(live("mr") == 1);

    refuse("dereg_mr", EBUSY);
    CHECK(error_of([&] { second.close(); }).code().value() == EBUSY);
    CHECK(second.data() == data);  // still registered, so still mapped
    permit();
    second.close();
    second.close();
    CHECK(live("memory") == 0);
    CHECK(live("mr") == 0);
  }
  refuse("reg_mr", ENOMEM);
  CHECK_THROWS_AS(registered_buffer(domain, 100, 0), chorale::error);
  CHECK(live("memory") == 0);
  permit();
  refuse("allocate", ENOMEM);
  CHECK_THAT(error_of([&] { registered_buffer(domain, 100, 0); }).what(), Contains("100 bytes"));
  permit();
}

TEST_CASE("a membership is left once", "[fake]") {
  const scene here;
  device dev = device::open("fake0", here.drivers);
  protection_domain domain(dev);
  completion_queue queue(dev, 8);
  queue_pair pair(domain, {.type = IBV_QPT_UD, .send = &queue, .recv = &queue});
  {
    multicast_membership first(pair, group(), 3);
    multicast_membership second(pair, group(), 4);
    CHECK(live("membership") == 2);
    second = std::move(first);
    CHECK(live("membership") == 1);
    CHECK(second.lid() == 3);
    refuse("detach_mcast", EINVAL);
    CHECK_THAT(error_of([&] { second.close(); }).what(), Contains("ibv_detach_mcast") && Contains("ff00::1"));
    permit();
    second.close();
    second.close();
    CHECK(live("membership") == 0);
    const multicast_membership left_open(pair, group());
  }
  CHECK(live("membership") == 0);
}

TEST_CASE("closed objects refuse to work, with a reason", "[fake]") {
  const scene here;
  device dev = device::open("fake0", here.drivers);
  protection_domain domain(dev);
  completion_channel channel(dev);
  completion_queue queue(dev, 8);
  shared_receive_queue srq(domain, 4);
  queue_pair pair(domain, {.type = IBV_QPT_UD, .send = &queue, .recv = &queue});
  const auto closed = [](const auto& act) {
    const auto e = error_of(act);
    CHECK(e.code() == chorale::errc::invalid_argument);
    CHECK_THAT(e.what(), Contains("closed or was moved from"));
  };
  ibv_send_wr send{};
  ibv_recv_wr receive{};
  ibv_wc room{};

  pair.close();
  CHECK(pair.number() == 0x12);
  closed([&] { pair.post_send(send); });
  closed([&] { pair.post_recv(receive); });
  CHECK(pair.try_post_send(send) == EINVAL);
  CHECK(pair.try_post_recv(receive) == EINVAL);
  closed([&] { pair.to_init({}); });
  closed([&] { pair.to_ready_to_receive(); });
  closed([&] { static_cast<void>(pair.state()); });
  closed([&] { static_cast<void>(pair.bytes_in_order()); });
  closed([&] { multicast_membership(pair, group()); });
  srq.close();
  closed([&] { srq.post_recv(receive); });
  CHECK(srq.try_post_recv(receive) == EINVAL);
  closed([&] { srq.arm_limit(1); });
  closed([&] { queue_pair(domain, {.send = &queue, .recv = &queue, .srq = &srq}); });
  queue.close();
  closed([&] { queue.poll({&room, 1}); });
  closed([&] { queue.request_notification(); });
  closed([&] { queue.resize(4); });
  closed([&] { queue_pair(domain, {.send = &queue, .recv = &queue}); });
  channel.close();
  closed([&] { static_cast<void>(channel.wait_for(std::chrono::milliseconds{0})); });
  closed([&] { channel.get_event(); });
  closed([&] { completion_queue(dev, 8, &channel); });
  domain.close();
  closed([&] { registered_buffer(domain, 1, 0); });
  closed([&] { memory_region(domain, &room, 1, 0); });
  closed([&] { shared_receive_queue(domain, 1); });
  closed([&] { address_handle(domain, ibv_ah_attr{}); });
  closed([&] { address_handle::from_completion(domain, ibv_wc{}, ibv_grh{}, 1); });
  dev.close();
  closed([&] { static_cast<void>(dev.port(1)); });
  closed([&] { static_cast<void>(dev.allocate(1)); });
  closed([&] { static_cast<void>(dev.async_fd()); });
  closed([&] { protection_domain{dev}; });
  closed([&] { completion_channel{dev}; });
  closed([&] { completion_queue(dev, 8); });
}
