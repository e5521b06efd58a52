// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <cstdlib>
#include <iostream>

#include <catch2/catch.hpp>

#include "../../lib/verbs/text.hpp"

namespace test {

std::string device_name() {
  const char* const name = std::getenv("CHORALE_TEST_DEVICE");
  return name == nullptr || *name == '\0' ? "soft0" : name;
}

void skip(const std::string& why) {
  std::cerr << Catch::getResultCapture().getCurrentTestName() << " skipped on " << device_name() << ": "
            << why << '\n';
}

chorale::error error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const chorale::error& e) {
    return e;
  }
  FAIL("no chorale::error was thrown");
  throw;
}

ibv_wc next_completion(verbs::completion_queue& queue) {
  const auto end = chorale::clock::now() + std::chrono::seconds{30};
  ibv_wc found{};
  while (queue.poll({&found, 1}).empty()) {
    if (chorale::clock::now() > end) FAIL("no completion within half a minute");
    chorale::clock::give_way();
  }
  return found;
}

bool stays_empty(verbs::completion_queue& queue, std::chrono::milliseconds quiet) {
  const auto end = chorale::clock::now() + quiet;
  do {
    ibv_wc found{};
    if (!queue.poll({&found, 1}).empty()) {
      UNSCOPED_INFO("unexpected: " << verbs::describe(found));
      return false;
    }
    chorale::clock::sleep_for(std::chrono::milliseconds{1});
  } while (chorale::clock::now() < end);
  return true;
}

rig::rig()
    : choice(verbs::choose({.device = device_name()})),
      device(verbs::device::open(choice.device)),
      port(verbs::query_local_port(device, choice.port, choice.gid_index)),
      domain(device),
      queue(device, 256),
      buffer(domain, 64 * 1024, all_access) {}

ibv_sge rig::piece(std::size_t offset, std::uint32_t bytes) const {
  return {.addr = reinterpret_cast<std::uint64_t>(buffer.data() + offset),
          .length = bytes,
          .lkey = buffer.lkey()};
}

verbs::queue_pair_options rig::options(ibv_qp_type type) {
  return {.type = type, .send = &queue, .recv = &queue};
}

verbs::queue_pair rig::datagram_pair(verbs::completion_queue* receives, verbs::shared_receive_queue* srq) {
  auto wanted = options(IBV_QPT_UD);
  if (receives != nullptr) wanted.recv = receives;
  wanted.srq = srq;
  wanted.send_sges = wanted.recv_sges = 2;
  verbs::queue_pair pair(domain, wanted);
  pair.to_init({.port = port.number, .qkey = qkey});
  pair.to_ready_to_receive();
  pair.to_ready_to_send(0);
  return pair;
}

void rig::connect(verbs::queue_pair& from, const verbs::queue_pair& to, int access,
                  verbs::connection details) {
  details.remote_qp = to.number();
  details.path_mtu = verbs::mtu_from_bytes(choice.mtu_bytes);
  details.path = verbs::path_to(port, port.address);
  from.to_init({.port = port.number, .access = access});
  from.to_ready_to_receive(details);
  from.to_ready_to_send(details);
}

namespace {

verbs::queue_pair_options options_of(verbs::completion_queue& queue, verbs::shared_receive_queue* srq) {
  return {.type = IBV_QPT_RC,
          .send = &queue,
          .recv = &queue,
          .srq = srq,
          .send_depth = 16,
          .recv_depth = 16,
          .send_sges = 2,
          .recv_sges = 2,
          .inline_bytes = 64};
}

}  // namespace

connected::connected(int access, verbs::shared_receive_queue* srq)
    : left_queue(device, 64),
      right_queue(device, 64),
      left(domain, options_of(left_queue, nullptr)),
      right(domain, options_of(right_queue, srq)) {
  connect(left, right, access, {.remote_psn = 0x222222, .local_psn = 0x111111});
  connect(right, left, access, {.remote_psn = 0x111111, .local_psn = 0x222222});
}

ibv_send_wr request(ibv_wr_opcode opcode, ibv_sge& piece) {
  ibv_send_wr wanted{};
  wanted.wr_id = 0xabc;
  wanted.sg_list = &piece;
  wanted.num_sge = 1;
  wanted.opcode = opcode;
  wanted.send_flags = IBV_SEND_SIGNALED;
  return wanted;
}

}  // namespace test
