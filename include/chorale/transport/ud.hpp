// SPDX-License-Identifier: Apache-2.0
// Mailbox over reliable datagrams: one queue pair for all peers, no connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <chorale/transport/assembled.hpp>
#include <chorale/transport/endpoint_user.hpp>
#include <chorale/transport/reliable/streams.hpp>

namespace chorale::transport {

/// The parts of `ud`: an endpoint, and streams to all peers over its datagrams.
class ud_parts final : private endpoint_user {
 public:
  static constexpr const char* name = "ud";

  explicit ud_parts(joined_group&& group);
  ~ud_parts();
  [[nodiscard]] static joining_plan plan(int ranks, const config& settings, const char* transport = name);

  [[nodiscard]] endpoint& core() noexcept { return core_; }
  [[nodiscard]] const endpoint& core() const noexcept { return core_; }
  [[nodiscard]] reliable::streams& mailbox() noexcept { return streams_; }
  [[nodiscard]] const reliable::streams& mailbox() const noexcept { return streams_; }
  /// Packets, losses and retransmissions.
  [[nodiscard]] reliable::streams& packets() noexcept { return streams_; }
  [[nodiscard]] const reliable::streams& packets() const noexcept { return streams_; }
  void describe(memory_report& m) const;
  [[nodiscard]] std::size_t registered_bytes() const noexcept { return 0; }

 private:
  void on_progress() override { streams_.progress(); }
  void withdraw() noexcept override { streams_.withdraw(); }
  [[nodiscard]] std::uint64_t resent() const noexcept override { return streams_.statistics().resent; }
  std::span<const std::byte> last_words(int peer) override { return streams_.last_words(peer); }
  void on_farewell(int from, std::span<const std::byte> body) override { streams_.on_farewell(from, body); }

  endpoint core_;
  reliable::streams streams_;
};

/// Messages are datagrams of at most one path MTU, made reliable by sequence numbers and retransmission
/// requests (P5 section 4.3). Long messages travel in such blocks, copied on both sides. No memory
/// operations. Cost: one datagram per message; separate acknowledgements, one per half window, only if there
/// is no reverse traffic to carry them. Source: P5 section 4.3.
using ud = assembled<ud_parts>;

}  // namespace chorale::transport

template <>
inline constexpr bool chorale::has_compiled_algorithms<chorale::transport::ud> = true;
static_assert(chorale::communicator_transport<chorale::transport::ud>);
static_assert(!chorale::one_sided_transport<chorale::transport::ud>);
