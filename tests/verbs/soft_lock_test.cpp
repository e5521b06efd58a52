// SPDX-License-Identifier: Apache-2.0
// Locks held, and data forged, by a process that is killed: it reaches into the segment as the device does.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <thread>
#include <unistd.h>
#include <utility>

#include <catch2/catch.hpp>

#include <chorale/core/clock.hpp>

#include "../../lib/soft/queues.hpp"
#include "../support/instrumented.hpp"
#include "soft_pair.hpp"

using namespace soft_test;
namespace device = chorale::soft;

namespace {

/// Runs `take` on this process's segment in a child, and then kills the child.
template <class F>
void killed_while_holding(std::uint32_t qpn, F take) {
  child holder([&](wire& line) {
    device::process* self = device::process::join();
    expect(self != nullptr, "join");
    device::peer* parent = self->find_peer(device::slot_of(qpn));
    expect(parent != nullptr && !parent->self, "the parent is a peer");
    take(*self, *parent, parent->base->qps[device::index_of(qpn)]);
    line.send(char{1});
    line.receive<char>();
  });
  holder.line().receive<char>();
  holder.kill();
}

}  // namespace

#ifdef __SANITIZE_THREAD__
TEST_CASE("Locks of the dead", "[soft]") {
  WARN("skipped: ThreadSanitizer cannot start threads in the forked child of a process with threads");
}
#else
TEST_CASE("A receive queue locked by a dead process can be used", "[soft]") {
  pair p;
  killed_while_holding(
      p.b->qp_num, [](device::process& self, device::peer& parent, device::qp_record& record) {
        auto* queue = device::at<device::receive_queue_record>(*parent.base, record.receive_queue.load());
        expect(queue != nullptr && queue->lock.try_lock(self.lock_name()), "take the lock");
      });
  CHECK(post_receive(p.b, 3, {sge(p.to, 0, 8)}) == 0);
  CHECK(post(p.a, IBV_WR_SEND, {sge(p.from, 0, 8)}, IBV_SEND_SIGNALED) == 0);
  CHECK(wait(p.here.send_cq).status == IBV_WC_SUCCESS);
  CHECK(wait(p.there.recv_cq).wr_id == 3);
}

TEST_CASE("A receiver's copy for a dead sender ends before the next message arrives", "[soft]") {
  const auto left_as = GENERATE(device::bounce_state::request, device::bounce_state::busy);
  constexpr std::size_t bytes = 64;
  constexpr std::size_t place = 5;
  pair p;
  killed_while_holding(p.b->qp_num, [&](device::process& self, device::peer& parent,
                                        device::qp_record& record) {
    auto* queue = device::at<device::receive_queue_record>(*parent.base, record.receive_queue.load());
    device::bounce_slot& slot = parent.base->bounce[place];
    expect(queue != nullptr && queue->lock.try_lock(self.lock_name()) && slot.lock.try_lock(self.lock_name()),
           "take the locks");
    slot.operation = device::bounce_operation::write;
    slot.address = p.to.address();
    slot.length = bytes;
    slot.key = p.to.mr->lkey;
    std::memset(slot.data, 0xee, bytes);
    slot.phase.store({device::shared_lock::hold(slot.lock.word.load()), left_as});
  });
  device::process* self = device::process::join();
  REQUIRE(self != nullptr);
  // Stands for a thread of the receiver that has begun the copy, but had no core for a while.
  device::bounce_slot& slot = self->own().bounce[place];
  std::thread slow([&, begun = slot.phase.load()] {
    if (begun.state != device::bounce_state::busy) return;
    usleep(100'000);
    std::memcpy(p.to.data, slot.data, bytes);
    slot.phase.store({begun.hold, device::bounce_state::done});
  });
  std::memset(p.from.data, 0x11, bytes);
  CHECK(post_receive(p.b, 3, {sge(p.to, 0, bytes)}) == 0);
  CHECK(post(p.a, IBV_WR_SEND, {sge(p.from, 0, bytes)}, IBV_SEND_SIGNALED) == 0);
  CHECK(wait(p.here.send_cq).status == IBV_WC_SUCCESS);
  CHECK(wait(p.there.recv_cq).wr_id == 3);
  slow.join();
  self->serve_bounces();
  CHECK(std::memcmp(p.from.data, p.to.data, bytes) == 0);
  CHECK(slot.phase.load().state != device::bounce_state::busy);
  self->leave();
}

TEST_CASE("The slot of a dead sender is reused once its copy has ended", "[soft]") {
  pair p;
  ibv_qp* target = make_qp(p.there, IBV_QPT_RC);
  killed_while_holding(p.b->qp_num, [&](device::process& self, device::peer& parent, device::qp_record&) {
    for (device::bounce_slot& slot : parent.base->bounce) {
      expect(slot.lock.try_lock(self.lock_name()), "take the lock");
      slot.phase.store({device::shared_lock::hold(slot.lock.word.load()), device::bounce_state::busy});
    }
  });
  device::process* self = device::process::join();
  REQUIRE(self != nullptr);
  child writer([&](wire& line) {
    setenv("CHORALE_SOFT_COPY", "bounce", 1);
    node n;
    ibv_qp* qp = make_qp(n, IBV_QPT_RC);
    {
      const memory from(n, 64, false);
      std::memset(from.data, 0x22, from.bytes);
      connect_rc(n, qp, target->qp_num);
      line.send(qp->qp_num);
      line.receive<char>();
      expect(post(qp, IBV_WR_RDMA_WRITE, {sge(from, 0, 64)}, IBV_SEND_SIGNALED, p.to.address(),
                  p.to.mr->rkey) == 0,
             "post");
      expect(wait(n.send_cq).status == IBV_WC_SUCCESS, "write");
      line.meet();
    }
    soft().destroy_qp(qp);
  });
  connect_rc(p.there, target, writer.line().receive<std::uint32_t>());
  writer.line().send(char{1});
  // All slots are taken: nothing is copied, and no copy is reported.
  usleep(50'000);
  CHECK(!writer.line().readable());
  CHECK(p.to.data[0] == 0);
  for (device::bounce_slot& slot : self->own().bounce)
    slot.phase.store({slot.phase.load().hold, device::bounce_state::done});
  writer.line().meet();
  // The order between the copying thread and this one is established through the child, where no sanitizer
  // sees it.
  if (!support::threads_watched)
    CHECK(std::all_of(p.to.data, p.to.data + 64, [](unsigned char byte) { return byte == 0x22; }));
  CHECK(writer.join().empty());
  CHECK(soft().destroy_qp(target) == 0);
  self->leave();
}

TEST_CASE("A completion queue whose producer died half way can be used", "[soft]") {
  const bool published = GENERATE(false, true);
  pair p;
  killed_while_holding(
      p.b->qp_num, [=](device::process& self, device::peer& parent, device::qp_record& record) {
        auto* cq = device::at<device::completion_queue_record>(*parent.base, record.receive_cq.load());
        expect(cq != nullptr && cq->lock.try_lock(self.lock_name()), "take the lock");
        auto* entry = device::at<device::completion_entry>(*parent.base, cq->ring.load());
        entry->body.wr_id = 55;
        // Its last step: either the entry is not visible, or it is and has not been counted.
        if (published) entry->sequence.store(1);
      });
  CHECK(post_receive(p.b, 3, {sge(p.to, 0, 8)}) == 0);
  CHECK(post(p.a, IBV_WR_SEND, {sge(p.from, 0, 8)}, IBV_SEND_SIGNALED) == 0);
  CHECK(wait(p.here.send_cq).status == IBV_WC_SUCCESS);
  if (published) CHECK(wait(p.there.recv_cq).wr_id == 55);
  CHECK(wait(p.there.recv_cq).wr_id == 3);
  CHECK(silent(p.there.recv_cq, 0.005));
}

TEST_CASE("A multicast membership whose creator died half way is void, and is reused", "[soft]") {
  node n;
  device::process* self = device::process::join();
  REQUIRE(self != nullptr);
  ibv_gid group{};
  group.raw[0] = 0xff;
  group.raw[15] = 11;
  ibv_ah_attr a{};
  a.is_global = 1;
  a.grh.dgid = group;
  a.port_num = 1;
  ibv_ah* all = soft().create_ah(n.pd, &a);
  ibv_qp* one = make_qp(n, IBV_QPT_UD);
  ibv_qp* other = make_qp(n, IBV_QPT_UD);
  start_ud(one);
  start_ud(other);
  REQUIRE(soft().attach_mcast(one, &group, 0) == 0);
  auto& entries = self->fabric().multicast;
  const auto made = std::find_if(std::begin(entries), std::end(entries),
                                 [&](const auto& e) { return e.qpn.load() == one->qp_num; });
  REQUIRE(made != std::end(entries));
  REQUIRE(soft().detach_mcast(one, &group, 0) == 0);
  made->qpn.store(one->qp_num);
  made->version.fetch_add(1);
  {
    memory m(n, 4096, true);
    const auto tell_all = [&] {
      REQUIRE(post_datagram(one, {sge(m, 0, 8)}, IBV_SEND_SIGNALED, all, 0xffffff) == 0);
      REQUIRE(wait(n.send_cq).status == IBV_WC_SUCCESS);
    };
    REQUIRE(post_receive(one, 1, {sge(m, 1024, 64)}) == 0);
    REQUIRE(post_receive(other, 2, {sge(m, 2048, 64)}) == 0);
    tell_all();
    CHECK(silent(n.recv_cq, 0));
    REQUIRE(soft().attach_mcast(other, &group, 0) == 0);
    CHECK(made->qpn.load() == other->qp_num);
    tell_all();
    CHECK(wait(n.recv_cq).wr_id == 2);
    CHECK(silent(n.recv_cq, 0));
  }
  CHECK(soft().detach_mcast(other, &group, 0) == 0);
  CHECK(soft().destroy_ah(all) == 0);
  CHECK(soft().destroy_qp(one) == 0);
  CHECK(soft().destroy_qp(other) == 0);
  self->leave();
}

TEST_CASE("A queue can be armed while a stopped process holds its lock", "[soft]") {
  node n(64, true);
  device::completion_queue_record& record = *static_cast<device::completion_queue*>(n.recv_cq)->record;
  device::process* self = device::process::join();
  REQUIRE(self != nullptr);
  // Held by a live process, as if that were stopped.
  REQUIRE(record.lock.try_lock(self->lock_name()));
  const auto event = [&] {
    pollfd p{n.channel->fd, POLLIN, 0};
    if (poll(&p, 1, 5000) != 1) return false;
    ibv_cq* cq = nullptr;
    void* context = nullptr;
    if (soft().get_cq_event(n.channel, &cq, &context) != 0) return false;
    soft().ack_cq_events(cq, 1);
    return cq == n.recv_cq;
  };
  // A thread that sleeps for an event is woken to check again, as long as that lasts.
  for (int i = 0; i < 3; ++i) {
    CHECK(ibv_req_notify_cq(n.recv_cq, 0) == 0);
    CHECK(event());
  }
  record.lock.unlock();
  CHECK(ibv_req_notify_cq(n.recv_cq, 0) == 0);
  device::completion done{};
  done.wr_id = 9;
  CHECK(device::push_completion(*self, *static_cast<device::completion_queue*>(n.recv_cq), done));
  CHECK(event());
  CHECK(wait(n.recv_cq).wr_id == 9);
  self->leave();
}

TEST_CASE("A completion waits for a stopped process that holds the lock of its queue", "[soft]") {
  node n(64);
  auto& queue = *static_cast<device::completion_queue*>(n.recv_cq);
  device::process* self = device::process::join();
  REQUIRE(self != nullptr);
  // Held by a live process, which continues after longer than others wait for a lock.
  REQUIRE(queue.record->lock.try_lock(self->lock_name()));
  struct : chorale::time_source {
    chorale::clock::time_point now() noexcept override { return present; }
    void give_way() noexcept override { sleep_until(present); }
    void sleep_until(chorale::clock::time_point end) noexcept override {
      present = std::max(present, end) + std::chrono::milliseconds{10};
      if (present > begin + std::chrono::nanoseconds{2 * device::lock_patience_ns} && lock != nullptr)
        std::exchange(lock, nullptr)->unlock();
    }
    chorale::clock::time_point begin{std::chrono::hours{1}};
    chorale::clock::time_point present = begin;
    device::shared_lock* lock = nullptr;
  } time;
  time.lock = &queue.record->lock;
  device::completion done{};
  done.wr_id = 9;
  {
    const chorale::replaced_clock guard{time};
    CHECK(device::push_completion(*self, queue, done));
  }
  CHECK(time.lock == nullptr);
  CHECK(wait(n.recv_cq).wr_id == 9);
  self->leave();
}

TEST_CASE("Events of a queue are written once those of another have been taken", "[soft]") {
  node n(64, true);
  device::process* self = device::process::join();
  REQUIRE(self != nullptr);
  auto& queue = *static_cast<device::completion_queue*>(n.recv_cq);
  // A pipe full of events of a destroyed queue.
  const int full = static_cast<device::completion_channel*>(n.channel)->write_end.get();
  const std::uint64_t gone = 1'000'000;
  int many = 0;
  while (write(full, &gone, sizeof gone) == ssize_t{sizeof gone}) ++many;
  REQUIRE(many > 0);
  REQUIRE(ibv_req_notify_cq(n.recv_cq, 0) == 0);
  CHECK(device::push_completion(*self, queue, {}));
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  REQUIRE(soft().get_cq_event(n.channel, &cq, &context) == 0);
  CHECK(cq == n.recv_cq);
  soft().ack_cq_events(cq, 1);
  self->leave();
}

TEST_CASE("Numbers from another process are not trusted", "[soft]") {
  pair p;
  killed_while_holding(p.b->qp_num, [](device::process&, device::peer& parent, device::qp_record& record) {
    auto* queue = device::at<device::receive_queue_record>(*parent.base, record.receive_queue.load());
    queue->ring.store(~std::uint64_t{63});
    queue->sge_limit.store(4'000'000'000);
    auto* cq = device::at<device::completion_queue_record>(*parent.base, record.receive_cq.load());
    cq->ring.store(device::segment_bytes - 64);
    record.responder_error.store(77);
  });
  // The owner does not rely on the record of its own queue; initiators find no receive there.
  CHECK(post_receive(p.b, 3, {sge(p.to, 0, 8)}) == 0);
  CHECK(post(p.a, IBV_WR_SEND, {sge(p.from, 0, 8)}, 0) == 0);
  CHECK(silent(p.there.recv_cq, 0.01));
}

namespace {

/// A request of a process of the same user to `owner` through a slot, as by a sender; returns its errno.
int asked(device::process& self, device::peer& owner, device::bounce_operation operation,
          std::uint64_t address, std::uint32_t bytes, std::uint32_t key) {
  device::bounce_slot& slot = owner.base->bounce[3];
  expect(slot.lock.try_lock(self.lock_name()), "take the slot");
  slot.operation = operation;
  slot.address = address;
  slot.length = bytes;
  slot.key = key;
  std::memset(slot.data, 0xee, 64);
  const device::bounce_phase phase{device::shared_lock::hold(slot.lock.word.load()),
                                   device::bounce_state::request};
  slot.phase.store(phase);
  owner.wake();
  for (int i = 0; slot.phase.load() != device::bounce_phase{phase.hold, device::bounce_state::done}; ++i) {
    expect(i < 60'000, "an answer");
    usleep(1000);
  }
  const int error = slot.error;
  slot.lock.unlock();
  return error;
}

}  // namespace

TEST_CASE("A forged record of a region gives no access to its owner's memory", "[soft]") {
  using operation = device::bounce_operation;
  pair p;
  const memory readable(p.there, 4096, true, IBV_ACCESS_REMOTE_READ);
  std::array<unsigned char, 64> hidden{};
  const auto place = reinterpret_cast<std::uint64_t>(hidden.data());
  const std::uint32_t key = p.to.mr->rkey;
  REQUIRE(post_receive(p.b, 3, {sge(p.to, 0, 64)}) == 0);
  killed_while_holding(p.b->qp_num, [&](device::process& self, device::peer& owner,
                                        device::qp_record& record) {
    const auto ask = [&](operation what, std::uint64_t address, std::uint32_t bytes, std::uint32_t by) {
      return asked(self, owner, what, address, bytes, by);
    };
    expect(ask(operation::write, p.to.address() + 8, 8, key) == 0, "a write into the region");
    expect(ask(operation::read, readable.address(), 8, readable.mr->rkey) == 0, "a read that is permitted");
    expect(ask(operation::write, readable.address(), 8, readable.mr->rkey) == EFAULT, "a write that is not");
    expect(ask(operation::read, p.to.address(), 8, p.to.mr->lkey) == EFAULT, "a read by the local key");
    // Would access eight bytes, whatever the length says.
    expect(ask(operation{9}, p.to.address() + p.to.bytes - 1, 1, key) == EFAULT, "an unknown operation");
    device::mr_record& region = owner.base->mrs[key >> 16];
    region.address.store(place);
    region.length.store(hidden.size());
    region.memory_fd.store(-1);
    region.generation.store(region.generation.load() + 2);
    for (const operation what : {operation::write, operation::read, operation::fetch_add})
      expect(ask(what, place, 8, key) == EFAULT, "what lies beside the region");
    // The owner sends to itself, into a receive that is also forged.
    auto* queue = device::at<device::receive_queue_record>(*owner.base, record.receive_queue.load());
    expect(queue != nullptr, "the receive queue");
    auto* entry = device::at<device::receive_entry>(*owner.base, queue->ring.load());
    expect(entry != nullptr && entry->wr_id == 3, "the receive");
    *reinterpret_cast<device::shared_sge*>(entry + 1) = {place, 64, p.to.mr->lkey};
  });
  std::memset(p.from.data, 0x11, 64);
  CHECK(post(p.a, IBV_WR_SEND, {sge(p.from, 0, 64)}, IBV_SEND_SIGNALED) == 0);
  CHECK(wait(p.here.send_cq).status == IBV_WC_REM_OP_ERR);
  CHECK(std::ranges::all_of(hidden, [](unsigned char byte) { return byte == 0; }));
}
#endif
