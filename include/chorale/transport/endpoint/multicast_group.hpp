// SPDX-License-Identifier: Apache-2.0
// The multicast group of a communicator: reliable messages to all ranks at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <chorale/core/call.hpp>
#include <chorale/transport/multicast/multicast_statistics.hpp>
#include <chorale/transport/wire/arrival.hpp>

union ibv_gid;

namespace chorale::transport {

class endpoint;

/// A UD queue pair in the multicast group of a communicator, and the protocol that makes its datagrams
/// reliable (P1 section 4.3): receivers report missing messages (NAK), so that reliability costs nothing
/// unless messages are lost. Each rank of a communicator has one and receives from all others; a rank that
/// joins late has merely lost earlier messages.
///
/// * A *signal* is a word that says which call is complete; a later one supersedes earlier ones, so that it
///   needs no window, order or acknowledgement.
/// * *Messages* of a sender arrive at every rank in order, exactly once. A sender keeps a window of them
///   until all ranks have released them, and waits while the slowest rank is a full window behind.
///
/// The protocol (lib/transport/multicast/, docs/multicast.md) is sans-I/O; this class gives it the device,
/// clock and lock of its endpoint. Thread safety: `take` is called with the endpoint's lock held; the other
/// functions acquire it.
class multicast_group {
 public:
  /// Joins the group. @throws error errc::unsupported if the device has no multicast; as the verbs objects.
  explicit multicast_group(endpoint& owner);
  ~multicast_group();
  multicast_group(const multicast_group&) = delete;
  multicast_group& operator=(const multicast_group&) = delete;

  /// A message in place at the receiver.
  using arrival = transport::arrival<multicast_group, int>;

  // Attempts: false means retry later. @throws error errc::mismatch; as the verbs objects.
  bool try_signal(call_id now);
  bool try_signalled(int root, call_id now);
  bool try_send(call_id now, std::span<const std::byte> bytes);
  bool try_receive(int root, call_id now, std::span<const std::byte>& message);
  void release(int from) noexcept;
  /// The rank that keeps this one's window closed; any other rank while it is open.
  [[nodiscard]] int slowest();

  /// Handles a datagram of a multicast kind that arrived on the endpoint's own port.
  void take(int from, std::uint16_t kind, std::span<const std::byte> body);
  /// The slow path of a wait: NAKs, questions, and acknowledgements that could not be sent earlier.
  void progress();
  /// True once all ranks that are not lost have received all messages of this one; otherwise asks them
  /// occasionally.
  bool settle();

  [[nodiscard]] multicast_statistics statistics() const;
  [[nodiscard]] std::size_t memory_bytes() const noexcept;  ///< registered
  [[nodiscard]] const ibv_gid& group() const noexcept;
  [[nodiscard]] std::uint32_t qkey() const noexcept;

 private:
  class member;
  std::unique_ptr<member> member_;
};

}  // namespace chorale::transport
