// The multicast group of a communicator: what its algorithms send to all ranks at once, made reliable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <chorale/core/call.hpp>
#include <chorale/transport/arrival.hpp>
#include <chorale/transport/multicast_statistics.hpp>

union ibv_gid;

namespace chorale::transport {

class endpoint;

/// A UD queue pair in the group of a communicator, and the protocol that makes its datagrams reliable (P1
/// section 4.3): receivers tell senders what is missing, so that nothing lost costs nothing. Every rank of
/// the communicator has one and hears every other; a rank that makes its own late has merely lost what came
/// before.
///
/// * A *signal* is a word that says which call is over; a later one makes earlier ones superfluous, so that
///   it needs no window, no order and no acknowledgement at all.
/// * *Messages* of a sender arrive at every rank in their order, each once. A sender keeps a window of them
///   until all ranks have given them back, and waits while the slowest rank is a window behind.
///
/// The protocol (lib/transport/multicast/, docs/multicast.md) has no device, clock or lock: it has those of
/// its endpoint here. Thread safety: `take` is called with the endpoint's lock held; the others take it
/// themselves.
class multicast_group {
 public:
  /// Joins the group. @throws error errc::unsupported if the device has no multicast, and as the verbs.
  explicit multicast_group(endpoint& owner);
  ~multicast_group();
  multicast_group(const multicast_group&) = delete;
  multicast_group& operator=(const multicast_group&) = delete;

  /// A message in its place here.
  using arrival = transport::arrival<multicast_group, int>;

  // Attempts, false as long as there is something to wait for. @throws error errc::mismatch, and as the
  // verbs.
  bool try_signal(call_id now);
  bool try_signalled(int root, call_id now);
  bool try_send(call_id now, std::span<const std::byte> bytes);
  bool try_receive(int root, call_id now, std::span<const std::byte>& message);
  void release(int from) noexcept;
  /// The rank that keeps this one's window closed, or any other while it is open.
  [[nodiscard]] int slowest();

  /// A datagram of one of the multicast kinds that came to the endpoint's own port.
  void take(int from, std::uint16_t kind, std::span<const std::byte> body);
  /// The slow path of a wait: NAKs, questions, acknowledgements that could not be sent.
  void progress();
  /// True when all ranks that are not lost have all that this one has sent; else asks them now and then.
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
