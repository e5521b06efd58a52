// SPDX-License-Identifier: Apache-2.0
// Adapters of simulated machines by profile: what sim0 grants and refuses, and which ports it reaches.
#include <string>

#include <chorale/communicator.hpp>
#include <chorale/core/error.hpp>
#include <chorale/simulation/run.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>

#include "../support/expect.hpp"
#include "../support/simulated.hpp"
#include "simulated_hosts.hpp"

using namespace simulated;
using Catch::Contains;
using support::thrown_by;

namespace {

machine profiled(const std::string& profile) {
  machine m = small_machine(2);
  m.adapter.profile = profile;
  validate(m);
  return m;
}

/// The completion status of a write from the first host to the second.
ibv_wc_status written(const std::string& profile) {
  ibv_wc_status status = IBV_WC_GENERAL_ERR;
  on_machine(profiled(profile), [&](fabric& all) {
    auto left = endpoint_on(all, 0);
    auto right = endpoint_on(all, 1);
    verbs::queue_pair here = left->pair(), there = right->pair();
    connect(here, *left, there, *right, {.timeout = 4, .retry = 2});
    connect(there, *right, here, *left);
    left->buffer.data()[0] = std::byte{5};
    ibv_sge piece = left->piece(0, 1);
    ibv_send_wr wr = write_to(*right, 9, piece);
    here.post_send(wr);
    status = next(left->queue).status;
    CHECK((right->buffer.data()[9] == std::byte{5}) == (status == IBV_WC_SUCCESS));
  });
  return status;
}

/// The sum over all ranks of a machine with that profile, on the first rank.
template <class Transport>
int sum_over(const std::string& profile) {
  machine m = support::test_machine(4);
  m.adapter.profile = profile;
  int found = 0;
  chorale::simulation::run(4, m, [&](chorale::simulation::group& g) {
    chorale::communicator<Transport> comm{g, {}};
    int value = g.rank() + 1;
    comm.allreduce(chorale::in_place, std::span{&value, 1}, chorale::sum);
    if (g.rank() == 0) found = value;
  });
  return found;
}

}  // namespace

TEST_CASE("an adapter reports and enforces the limits of its profile", "[profile]") {
  on_machine(
      profiled("srq=0,sge=3,rd_atomic=2,atomics=none,inline=0,inline_over=granted,mtu=1024,pkeys=7fff,8006"),
      [](fabric&) {
        const verbs::device device = verbs::device::open("sim0");
        const ibv_device_attr& limits = device.attributes();
        CHECK(limits.max_srq == 0);
        CHECK(limits.max_sge == 3);
        CHECK(limits.max_qp_init_rd_atom == 2);
        CHECK(limits.atomic_cap == IBV_ATOMIC_NONE);
        CHECK(device.port(1).active_mtu == IBV_MTU_1024);
        CHECK(device.pkey(1, 1) == 0x8006);
        const verbs::protection_domain domain{device};
        verbs::completion_queue queue{device, 16};
        const verbs::queue_pair pair{
            domain, {.type = IBV_QPT_RC, .send = &queue, .recv = &queue, .inline_bytes = 64}};
        CHECK(pair.inline_bytes() == 0);
        CHECK(thrown_by([&] { verbs::shared_receive_queue(domain, 4); }) != "nothing");
      });
}

TEST_CASE("ports of another partition, subnet or link layer are not reached", "[profile]") {
  CHECK(written("pkeys=8006") == IBV_WC_SUCCESS);
  CHECK(written("pkeys=8006;pkeys=8007") == IBV_WC_RETRY_EXC_ERR);
  CHECK(written("pkeys=7fff") == IBV_WC_RETRY_EXC_ERR);
  CHECK(written("subnet=fec0::") == IBV_WC_SUCCESS);
  CHECK(written("subnet=fec0::;subnet=fe80::") == IBV_WC_RETRY_EXC_ERR);
  CHECK(written("link=ethernet,gids=v2/10.0.0.1") == IBV_WC_SUCCESS);
  CHECK(written("link=ethernet,gids=v2/10.0.0.1;link=ethernet,gids=v1/::ffff:10.0.0.1") ==
        IBV_WC_RETRY_EXC_ERR);
}

TEST_CASE("a port that goes down is silent until it comes up, a failed adapter for ever", "[profile]") {
  using namespace std::chrono_literals;
  on_machine(profiled("events=port_down@10,port_up@20,fatal@30"), [](fabric& all) {
    auto left = endpoint_on(all, 0);
    auto right = endpoint_on(all, 1);
    verbs::queue_pair here = left->pair(), there = right->pair();
    connect(here, *left, there, *right, {.timeout = 12, .retry = 7});
    connect(there, *right, here, *left);
    const auto begin = chorale::clock::now();
    const auto write_at = [&](chorale::simulation::duration when) {
      const auto past = chorale::clock::now() - begin;
      chorale::clock::sleep_for(std::chrono::duration_cast<std::chrono::nanoseconds>(when - past));
      ibv_sge piece = left->piece(0, 1);
      ibv_send_wr wr = write_to(*right, 9, piece);
      here.post_send(wr);
      return next(left->queue).status;
    };
    CHECK(write_at(5ms) == IBV_WC_SUCCESS);
    const auto before = chorale::clock::now();
    CHECK(write_at(12ms) == IBV_WC_SUCCESS);
    CHECK(chorale::clock::now() - before > 8ms);
    CHECK(left->device.port(1).state == IBV_PORT_ACTIVE);
    CHECK(write_at(35ms) == IBV_WC_WR_FLUSH_ERR);
    CHECK(left->device.port(1).state == IBV_PORT_DOWN);
  });
}

TEST_CASE("collectives run over RoCE and other adapters by profile", "[profile]") {
  for (const std::string profile : {"connectx-infiniband", "connectx-roce", "mtu=1024,rd_atomic=1,sge=4"}) {
    CAPTURE(profile);
    CHECK(sum_over<chorale::transport::rc>(profile) == 10);
    CHECK(sum_over<chorale::transport::ud>(profile) == 10);
  }
}

TEST_CASE("a machine whose profile cannot be used is refused", "[profile]") {
  CHECK_THAT(thrown_by([] { profiled("inlin=0"); }), Contains("no key 'inlin'") && Contains("profile"));
}
