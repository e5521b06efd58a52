// SPDX-License-Identifier: Apache-2.0
// Queue pairs of two ranks to each other, on the device of a communicator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <chorale/verbs/address.hpp>
#include <chorale/verbs/address_handle.hpp>
#include <chorale/verbs/completion_queue.hpp>
#include <chorale/verbs/queue_pair.hpp>
#include <chorale/verbs/registered_buffer.hpp>

#include "figure.hpp"

namespace points {

/// The port that a communicator has chosen.
chorale::verbs::local_port port_of(communicator& control);

/// Connects a reliable queue pair in RESET with queue pair `peer` at `where`. `access`: IBV_ACCESS_REMOTE_*,
/// the peer's rights.
void connect(chorale::verbs::queue_pair& qp, communicator& control, std::uint32_t peer,
             const chorale::verbs::endpoint_address& where, int access = IBV_ACCESS_REMOTE_WRITE);

/// Queue pairs between ranks 0 and 1, used in turn, with one message at a time in each direction.
///
/// Every message has its own receive, posted before the peer can send. Messages are numbered, and have the
/// same length: message n uses place n modulo the number of queue pairs. One thread.
class wires {
 public:
  /// Collective over all ranks; only ranks 0 and 1 have queue pairs: `count` connections, or one for
  /// datagrams; messages of at most `largest` bytes.
  wires(const job& in, ibv_qp_type type, int count, std::size_t largest);

  /// Sends message `number` of `bytes`, with the content of `outgoing`, over its queue pair.
  void send(std::uint64_t number, std::size_t bytes);
  /// Waits for message `number`, sets `incoming` to its content, and posts a receive for the next one on that
  /// queue pair. @throws std::runtime_error after 20 seconds, or if a request has failed.
  void receive(std::uint64_t number);

  [[nodiscard]] std::span<std::byte> outgoing(std::uint64_t number, std::size_t bytes);
  /// The message that `receive` has last received, valid until the next one.
  [[nodiscard]] std::span<const std::byte> incoming() const noexcept { return taken_; }
  /// Starts over with message 0 on the first `used` queue pairs. Call it on both sides, followed by a
  /// barrier.
  void restart(int used);

 private:
  [[nodiscard]] std::size_t lane(std::uint64_t number) const noexcept {
    return number % static_cast<std::size_t>(used_);
  }
  void post_receive(std::size_t lane);
  void poll();

  std::size_t head_;    ///< bytes of the GRH before a datagram
  std::size_t stride_;  ///< of places
  bool yields_;
  int used_ = 1;
  chorale::verbs::completion_queue completions_;
  std::optional<chorale::verbs::registered_buffer> memory_;  ///< send places, then receive places
  std::optional<chorale::verbs::address_handle> way_;
  std::uint32_t peer_ = 0;
  std::deque<chorale::verbs::queue_pair> qps_;
  std::vector<std::uint32_t> arrived_;  ///< by lane: bytes of an untaken message, plus 1 << 31
  std::span<const std::byte> taken_;
};

}  // namespace points
