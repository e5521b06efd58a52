// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of datagrams: a queue pair with receives in numbered slots, and its address handle.
#pragma once

#include "scene.hpp"

namespace conformance {

constexpr std::uint32_t grh_bytes = 40;

/// A UD queue pair in RTS whose receive `n` fills slot `n` of its own memory.
struct receiver {
  explicit receiver(rig& host, std::uint32_t slot_bytes = 512, std::uint32_t slots = 16,
                    shared_receive_queue* srq = nullptr)
      : r(host),
        bytes(slot_bytes),
        memory(r.domain, std::size_t{slot_bytes} * slots, all_access),
        queue(r.device, 64),
        pair(r.datagram_pair(&queue, srq)) {}
  void post(std::uint64_t id, std::uint32_t room) { receive(pair, id, {{at(id), room, memory.lkey()}}); }
  void post(std::uint64_t id) { post(id, bytes); }
  [[nodiscard]] std::byte* slot(std::uint64_t id) const { return memory.data() + bytes * id; }
  [[nodiscard]] std::uint64_t at(std::uint64_t id) const { return reinterpret_cast<std::uint64_t>(slot(id)); }

  rig& r;
  std::uint32_t bytes;
  registered_buffer memory;
  completion_queue queue;
  queue_pair pair;
};

/// Sends `bytes` from `offset` of the rig's buffer and waits for the completion, which succeeds whether the
/// datagram arrives or not.
inline void send_datagram(rig& r, queue_pair& from, const address_handle& way, std::uint32_t qpn,
                          std::size_t offset, std::uint32_t bytes, std::uint32_t qkey = test::qkey) {
  work(IBV_WR_SEND, {r.piece(offset, bytes)}).to(way, qpn, qkey).post(from);
  CHECK(good(r.queue).opcode == IBV_WC_SEND);
}

}  // namespace conformance
