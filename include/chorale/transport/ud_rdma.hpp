// SPDX-License-Identifier: Apache-2.0
// Memory operations emulated over datagrams: RDMA semantics without connections.
#pragma once

#include <cstddef>

#include <chorale/transport/assembled.hpp>
#include <chorale/transport/reliable/emulated_memory.hpp>
#include <chorale/transport/ud.hpp>

namespace chorale::transport {

/// The parts of `ud_rdma`: those of `ud`, and memory operations over the same streams.
class ud_rdma_parts {
 public:
  static constexpr const char* name = "ud_rdma";

  explicit ud_rdma_parts(joined_group&& group) : ud_(std::move(group)), memory_(ud_.packets()) {}
  [[nodiscard]] static joining_plan plan(int ranks, const config& settings) {
    return ud_parts::plan(ranks, settings, name);
  }

  [[nodiscard]] endpoint& core() noexcept { return ud_.core(); }
  [[nodiscard]] const endpoint& core() const noexcept { return ud_.core(); }
  [[nodiscard]] reliable::streams& mailbox() noexcept { return ud_.mailbox(); }
  [[nodiscard]] const reliable::streams& mailbox() const noexcept { return ud_.mailbox(); }
  [[nodiscard]] reliable::streams& packets() noexcept { return ud_.packets(); }
  [[nodiscard]] const reliable::streams& packets() const noexcept { return ud_.packets(); }
  [[nodiscard]] reliable::emulated_memory& one_sided() noexcept { return memory_; }
  void describe(memory_report& m) const { ud_.describe(m); }
  [[nodiscard]] std::size_t registered_bytes() const noexcept { return ud_.registered_bytes(); }

 private:
  ud_parts ud_;
  reliable::emulated_memory memory_;
};

/// As `ud`, plus the one-sided and atomic operations of `rc`, so that every algorithm written for memory
/// semantics runs on it unchanged. A write carries address, key and bytes in packets of one MTU, and is
/// placed when the target next polls; a read is a request answered by the target's service thread, which is
/// woken by a solicited event or polls (config::service). Memory and queue pairs do not grow with the number
/// of peers. Cost: each byte is copied twice; reading from a rank that computes wakes a thread there. Source:
/// P5 section 4.2; in addition, the target checks each access.
using ud_rdma = assembled<ud_rdma_parts>;

}  // namespace chorale::transport

template <>
inline constexpr bool chorale::has_compiled_algorithms<chorale::transport::ud_rdma> = true;
static_assert(chorale::window_transport<chorale::transport::ud_rdma>);
