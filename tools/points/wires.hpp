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

/// Brings a reliable queue pair in RESET to where it sends to number `peer` at `where` and receives from it.
/// `access`: IBV_ACCESS_REMOTE_*, what the peer may do.
void connect(chorale::verbs::queue_pair& qp, communicator& control, std::uint32_t peer,
             const chorale::verbs::endpoint_address& where, int access = IBV_ACCESS_REMOTE_WRITE);

/// A way between ranks 0 and 1: some queue pairs used in turn, a message at a time in each direction.
///
/// Every message has a receive of its own, posted before its peer can send it. Messages are numbered, and
/// long as one: the place of message n is n modulo the number of queue pairs. One thread.
class wires {
 public:
  /// Collective over all ranks; those beyond 0 and 1 have none. `count` connections, or one queue pair of
  /// datagrams; messages of at most `largest` bytes.
  wires(const job& in, ibv_qp_type type, int count, std::size_t largest);

  /// Sends message `number` of `bytes` over its queue pair; its contents: `outgoing`.
  void send(std::uint64_t number, std::size_t bytes);
  /// Waits for message `number`, whose contents are then in `incoming`, and posts a receive for the next on
  /// that queue pair. @throws std::runtime_error after 20 seconds, or if a request has failed.
  void receive(std::uint64_t number);

  [[nodiscard]] std::span<std::byte> outgoing(std::uint64_t number, std::size_t bytes);
  /// The message that `receive` has taken last, valid until the next one.
  [[nodiscard]] std::span<const std::byte> incoming() const noexcept { return taken_; }
  /// Begin with message 0 again, over the first `used` queue pairs. Both sides do, with a barrier behind it.
  void restart(int used);

 private:
  [[nodiscard]] std::size_t lane(std::uint64_t number) const noexcept {
    return number % static_cast<std::size_t>(used_);
  }
  void post_receive(std::size_t lane);
  void poll();

  std::size_t head_;    ///< bytes in front of a message that a datagram comes with
  std::size_t stride_;  ///< of places
  bool yields_;
  int used_ = 1;
  chorale::verbs::completion_queue completions_;
  std::optional<chorale::verbs::registered_buffer> memory_;  ///< places to send from, then to receive into
  std::optional<chorale::verbs::address_handle> way_;
  std::uint32_t peer_ = 0;
  std::deque<chorale::verbs::queue_pair> qps_;
  std::vector<std::uint32_t> arrived_;  ///< bytes, and 1 << 31, of a message that nobody has taken, by lane
  std::span<const std::byte> taken_;
};

}  // namespace points
