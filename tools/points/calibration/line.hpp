// SPDX-License-Identifier: Apache-2.0
// A connection between the two ranks that calibrate, by bare verbs.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>

#include <fmt/format.h>

#include <chorale/bench/aligned_floats.hpp>
#include <chorale/verbs/memory_region.hpp>

#include "../wires.hpp"
#include "facts.hpp"

namespace points::calibration {

namespace verbs = chorale::verbs;

/// Number of requests posted at once.
inline constexpr int burst = 32;
/// Bytes of the longest message.
inline constexpr std::size_t longest = std::size_t{1} << 20;
inline constexpr int access =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

/// Memory of the other rank, exposed to writes, reads and atomics.
struct card {
  verbs::endpoint_address where;
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint64_t apart = 0;  ///< memory that the device has not allocated
  std::uint32_t apart_key = 0;
  std::uint32_t queue_pair = 0;
};

/// A connection between the two ranks, with memory for each direction.
class line {
 public:
  explicit line(const job& in)
      : completions_(in.control.transport().device(), 4096),
        memory_(in.control.transport().domain(), 2 * longest, access),
        apart_region_(in.control.transport().domain(), apart_.data(), longest, access),
        qp_(in.control.transport().domain(), {.send = &completions_,
                                              .recv = &completions_,
                                              .send_depth = 4 * burst,
                                              .recv_depth = 2048,
                                              .inline_bytes = 64}) {
    auto& control = in.control;
    std::memset(apart_.data(), 0, longest);
    const auto cards = control.allgather(card{.where = port_of(control).address,
                                              .address = reinterpret_cast<std::uintptr_t>(memory_.data()),
                                              .key = memory_.rkey(),
                                              .apart = reinterpret_cast<std::uintptr_t>(apart_.data()),
                                              .apart_key = apart_region_.rkey(),
                                              .queue_pair = qp_.number()});
    there_ = cards[static_cast<std::size_t>(1 - control.rank())];
    connect(qp_, control, there_.queue_pair, there_.where, access);
  }

  /// A request for the first `bytes` of both memories.
  [[nodiscard]] ibv_send_wr request(ibv_wr_opcode what, std::size_t bytes, ibv_sge& local,
                                    unsigned flags) const {
    local = {reinterpret_cast<std::uintptr_t>(memory_.data() + longest), static_cast<std::uint32_t>(bytes),
             memory_.lkey()};
    ibv_send_wr made{};
    made.sg_list = &local;
    made.num_sge = 1;
    made.opcode = what;
    made.send_flags = flags;
    if (what == IBV_WR_ATOMIC_FETCH_AND_ADD) {
      made.wr.atomic.remote_addr = there_.address;
      made.wr.atomic.rkey = there_.key;
      made.wr.atomic.compare_add = 1;
    } else {
      made.wr.rdma.remote_addr = there_.address;
      made.wr.rdma.rkey = there_.key;
    }
    return made;
  }
  /// Redirects a request to memory of the peer that the device has not allocated.
  void go_apart(ibv_send_wr& one) const {
    one.wr.rdma.remote_addr = there_.apart;
    one.wr.rdma.rkey = there_.apart_key;
  }
  void post(ibv_send_wr& chain) { qp_.post_send(chain); }
  void post_receive() {
    ibv_sge into{reinterpret_cast<std::uintptr_t>(memory_.data()), 64, memory_.lkey()};
    ibv_recv_wr one{};
    one.sg_list = &into;
    one.num_sge = 1;
    qp_.post_recv(one);
  }
  /// Waits for `count` completions.
  void await(int count) {
    std::array<ibv_wc, burst> room;
    while (count > 0)
      for (const auto& done : completions_.poll(room)) {
        if (done.status != IBV_WC_SUCCESS)
          throw std::runtime_error(
              fmt::format("calibrate: a request has failed with status {} of ibv_wc_status",
                          static_cast<int>(done.status)));
        --count;
      }
  }
  /// Polls once, for at most `most` completions. @returns their number.
  std::size_t look(std::size_t most) {
    std::array<ibv_wc, burst> room;
    return completions_.poll(std::span{room}.first(most)).size();
  }

  /// The word that the peer writes.
  [[nodiscard]] std::uint64_t word() const {
    return std::atomic_ref{*reinterpret_cast<std::uint64_t*>(memory_.data())}.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::span<const std::byte> received() const { return {memory_.data(), longest}; }
  void set_own(std::uint64_t value) { std::memcpy(memory_.data() + longest, &value, sizeof value); }

 private:
  verbs::completion_queue completions_;
  verbs::registered_buffer memory_;  ///< memory that the peer writes, then the source of writes
  chorale::bench::aligned_floats apart_{longest / sizeof(float)};
  verbs::memory_region apart_region_;
  verbs::queue_pair qp_;
  card there_;
};

/// Posts one signalled request and waits for its completion.
inline void carry_out(line& way, ibv_wr_opcode what, std::size_t bytes, unsigned flags, bool apart = false) {
  ibv_sge local;
  auto one = way.request(what, bytes, local, flags | IBV_SEND_SIGNALED);
  if (apart) way.go_apart(one);
  way.post(one);
  way.await(1);
}

/// Seconds from posting one signalled request to its completion.
inline double until_complete(line& way, ibv_wr_opcode what, std::size_t bytes, unsigned flags, int calls,
                             bool apart = false) {
  return time_of(calls, [&](int n) {
    for (int i = 0; i < n; ++i) carry_out(way, what, bytes, flags, apart);
  });
}

/// Measures payloads of ascending sizes: the time of copying on the core that posts them, and of using them
/// on the other. Collective over the two ranks; the facts are rank 0's.
void measure_payloads(const job& in, line& way, adapter_facts& found);

}  // namespace points::calibration
