// SPDX-License-Identifier: Apache-2.0
// Hosts of a simulation for tests of the device: one rank each, and connections between them.
#pragma once

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/verbs/address.hpp>
#include <chorale/verbs/address_handle.hpp>
#include <chorale/verbs/completion_queue.hpp>
#include <chorale/verbs/device.hpp>
#include <chorale/verbs/protection_domain.hpp>
#include <chorale/verbs/queue_pair.hpp>
#include <chorale/verbs/registered_buffer.hpp>

#include "simulation/device/fabric.hpp"

namespace simulated {

using namespace chorale::simulation;
namespace verbs = chorale::verbs;
using device::fabric;
using device::wire;

/// A machine all of whose device costs are different and not zero.
inline machine small_machine(int hosts) {
  using namespace std::chrono_literals;
  machine m;
  m.name = "small";
  m.hosts = hosts;
  posting_costs& post = m.adapter.posting;
  post = {.request = 30ns, .address = 7ns, .doorbell = 50ns, .inline_bytes = 128};
  post.inline_copy = byte_cost::rate(10'000'000'000);
  post.receive = 20ns;
  post.poll = 11ns;
  post.completion = 13ns;
  m.adapter.sending = {.start = 150ns, .fetch = 300ns, .gap = 5ns, .packet = 4ns, .datagram = 9ns};
  m.adapter.receiving = {
      .place = 200ns, .take = 60ns, .shared = 8ns, .complete = 40ns, .gap = 6ns, .packet = 3ns};
  m.adapter.receiving.acknowledge = 70ns;
  m.adapter.receiving.read = 400ns;
  m.adapter.receiving.atomic = 500ns;
  m.adapter.bus.rate = byte_cost::rate(20'000'000'000);
  m.adapter.registration = {.call = 1us, .page = 50ns, .end_call = 800ns, .end_page = 10ns};
  m.adapter.wake = 2us;
  m.network.shape = one_switch{hosts};
  m.network.host_link = {byte_cost::rate(12'500'000'000), 20ns};
  m.network.switches = {.forward = 100ns, .replicate = 10ns};
  m.network.packets = {.payload = 4096, .connected = 30, .datagram = 38};
  validate(m);
  return m;
}

constexpr int all_access =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
constexpr std::uint32_t qkey = 0x1234;

/// The opened device of that name of the running fiber's host.
struct endpoint {
  explicit endpoint(std::size_t bytes = 64 * 1024, int entries = 4096, const char* name = "sim0")
      : device(verbs::device::open(name)),
        port(verbs::query_local_port(device, 1, 0)),
        domain(device),
        queue(device, entries),
        buffer(domain, bytes, all_access) {}

  [[nodiscard]] ibv_sge piece(std::size_t offset, std::size_t bytes) const {
    return {at(offset), static_cast<std::uint32_t>(bytes), buffer.lkey()};
  }
  [[nodiscard]] std::uint64_t at(std::size_t offset) const {
    return reinterpret_cast<std::uint64_t>(buffer.data() + offset);
  }
  [[nodiscard]] verbs::queue_pair pair(ibv_qp_type type = IBV_QPT_RC) {
    return {domain,
            {.type = type,
             .send = &queue,
             .recv = &queue,
             .send_depth = 2048,
             .recv_depth = 2048,
             .inline_bytes = 256}};
  }

  verbs::device device;
  verbs::local_port port;
  verbs::protection_domain domain;
  verbs::completion_queue queue;
  verbs::registered_buffer buffer;
};

/// RESET to RTS, connected to a queue pair of another endpoint.
inline void connect(verbs::queue_pair& from, const endpoint& here, const verbs::queue_pair& to,
                    const endpoint& there, verbs::connection details = {}) {
  details.remote_qp = to.number();
  details.path_mtu = IBV_MTU_4096;
  details.path = verbs::path_to(here.port, there.port.address);
  from.to_init({.port = 1, .access = all_access});
  from.to_ready_to_receive(details);
  from.to_ready_to_send(details);
}

inline ibv_send_wr request(ibv_wr_opcode opcode, ibv_sge& piece, std::uint64_t id = 1) {
  ibv_send_wr wr{};
  wr.wr_id = id;
  wr.sg_list = &piece;
  wr.num_sge = 1;
  wr.opcode = opcode;
  wr.send_flags = IBV_SEND_SIGNALED;
  return wr;
}

inline ibv_send_wr write_to(const endpoint& there, std::size_t offset, ibv_sge& piece, std::uint64_t id = 1) {
  ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, piece, id);
  wr.wr.rdma = {.remote_addr = there.at(offset), .rkey = there.buffer.rkey()};
  return wr;
}

inline void post_receive(verbs::queue_pair& pair, std::uint64_t id, ibv_sge piece) {
  ibv_recv_wr wr{.wr_id = id, .next = nullptr, .sg_list = &piece, .num_sge = 1};
  pair.post_recv(wr);
}

/// The next completion; fails the test after ten seconds of virtual time.
inline ibv_wc next(verbs::completion_queue& queue) {
  const auto end = chorale::clock::now() + std::chrono::seconds{10};
  ibv_wc found{};
  while (queue.poll({&found, 1}).empty()) {
    if (chorale::clock::now() > end) throw std::runtime_error("no completion within ten seconds");
    chorale::clock::give_way();
  }
  return found;
}

/// An endpoint on another host than the calling fiber's, for use by that fiber.
inline std::unique_ptr<endpoint> endpoint_on(fabric& all, int host, std::size_t bytes = 64 * 1024) {
  std::unique_ptr<endpoint> made;
  all.time().join(all.time().spawn("opens", host, [&] { made = std::make_unique<endpoint>(bytes); }));
  device::context::of(made->device.native()).rank = all.time().current_rank();
  return made;
}

/// Runs `body(fabric)` as the only rank of a machine.
template <class Body>
void on_machine(const machine& m, Body body) {
  scheduler time;
  wire costs(m, m.hosts);
  fabric all(time, costs, {m.hosts, 1});
  time.spawn("test", 0, [&] { body(all); });
  time.run();
}

/// The same on `hosts` hosts.
template <class Body>
void on_hosts(int hosts, Body body) {
  on_machine(small_machine(hosts), body);
}

/// Runs `body(rank)` on `ranks` ranks, each on a host of its own.
template <class Body>
void on_ranks(int ranks, Body body) {
  scheduler time;
  wire costs(small_machine(ranks), ranks);
  const fabric all(time, costs, {ranks, 1});
  for (int rank = 0; rank < ranks; ++rank)
    time.spawn("rank " + std::to_string(rank), rank, [&, rank] { body(rank); });
  time.run();
}

}  // namespace simulated
