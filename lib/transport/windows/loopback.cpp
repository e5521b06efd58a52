// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>

#include <fmt/format.h>

#include <chorale/transport/liveness/failure_detector.hpp>
#include <chorale/transport/windows/loopback.hpp>

#include "../../verbs/text.hpp"

namespace chorale::transport {

loopback::loopback(const device_port& port, const config& settings)
    : patience_(settings.silence),
      old_(port.domain(), sizeof(std::uint64_t), IBV_ACCESS_LOCAL_WRITE),
      cq_(port.device(), 4),
      qp_(port.domain(), {.type = IBV_QPT_RC, .send = &cq_, .recv = &cq_, .send_depth = 4, .recv_depth = 1}) {
  qp_.to_init({.port = port.local().number,
               .pkey_index = port.local().pkey_index,
               .access = port.device().remote_access()});
  verbs::connection itself;
  itself.remote_qp = qp_.number();
  itself.path_mtu = verbs::mtu_from_bytes(port.mtu_bytes());
  itself.path = verbs::path_to(port.local(), port.local().address);
  itself.timeout = settings.qp_timeout;
  itself.retry = settings.qp_retry;
  qp_.to_ready_to_receive(itself);
  qp_.to_ready_to_send(itself);
}

std::uint64_t loopback::fetch_add(const remote_region& own, std::size_t offset, std::uint64_t value) {
  return execute(IBV_WR_ATOMIC_FETCH_AND_ADD, own, offset, value, 0);
}

std::uint64_t loopback::compare_swap(const remote_region& own, std::size_t offset, std::uint64_t expected,
                                     std::uint64_t wanted) {
  return execute(IBV_WR_ATOMIC_CMP_AND_SWP, own, offset, expected, wanted);
}

std::uint64_t loopback::execute(ibv_wr_opcode opcode, const remote_region& own, std::size_t offset,
                                std::uint64_t first, std::uint64_t second) {
  ibv_sge here{reinterpret_cast<std::uintptr_t>(old_.data()), sizeof(std::uint64_t), old_.lkey()};
  ibv_send_wr request{};
  request.sg_list = &here;
  request.num_sge = 1;
  request.opcode = opcode;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.atomic.remote_addr = own.address + offset;
  request.wr.atomic.rkey = own.key;
  request.wr.atomic.compare_add = first;
  request.wr.atomic.swap = second;
  qp_.post_send(request);
  std::array<ibv_wc, 1> done{};
  failure_detector time{1, {}};
  while (cq_.poll(done).empty()) {
    time.advance_to(clock::now());
    if (time.attended() > patience_)
      throw error(
          errc::deadline,
          fmt::format("atomic operation on rank {}'s own memory: the device has not executed it in {} "
                      "ms (CHORALE_SILENCE_MS)",
                      own.owner, patience_.count()),
          {own.owner});
    clock::give_way();
  }
  if (done[0].status != IBV_WC_SUCCESS)
    throw error(errc::completion_failed, verbs::describe(done[0], "atomic operation on own memory"),
                {own.owner});
  std::uint64_t old = 0;
  std::memcpy(&old, old_.data(), sizeof old);
  return old;
}

}  // namespace chorale::transport
