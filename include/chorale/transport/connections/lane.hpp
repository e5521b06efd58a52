// SPDX-License-Identifier: Apache-2.0
// A device port of connections, with what its queue pairs share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <chorale/transport/connections/receive_queue.hpp>
#include <chorale/transport/endpoint/endpoint.hpp>
#include <chorale/transport/memory/registered_pool.hpp>
#include <chorale/transport/wire/device_port.hpp>
#include <chorale/verbs/completion_queue.hpp>

namespace chorale::transport {

/// What the mechanisms that send over connections require of them.
struct connection_options {
  std::size_t limit = 0;             ///< as config::connections
  std::size_t inbox_bytes = 0;       ///< memory that the peer writes, per connection
  std::uint32_t inbox_messages = 0;  ///< messages of a peer that its inbox holds
  std::size_t message_bytes = 0;     ///< longest message that fits into the inbox or a receive
  std::size_t receive_bytes = 0;     ///< bytes of one receive; 0 for receives that carry only immediate data
  std::uint32_t receives = 0;        ///< for all peers together, as in `receive_queue::options`
  bool posts_receives = true;        ///< keeps all receives posted; otherwise the mechanism posts them
  std::uint32_t inline_bytes = 0;    ///< inline data per request, on the software device
  bool announced_writes = false;     ///< completions announce peers' writes; set by `lane`
};

/// One of the ways from a rank to its peers: a device port, and the memory, receives and completions of the
/// queue pairs on it. A rank has one lane, or two: `soft0` to the ranks of its place and an adapter to all
/// others. The queue pair of a connection thus selects the device, at no cost for a message. One thread at a
/// time.
struct lane {
  /// Entries of the completion queue besides those for receives and for each peer.
  static constexpr long long spare_entries = 192;
  /// Most requests of one queue pair.
  static constexpr std::uint32_t queue_depth = 128;
  /// Outstanding reads and atomics per connection: more bring no measurable gain, and each costs the adapter
  /// resources.
  static constexpr int most_reads = 16;
  /// Bytes for a word or a header, on a device without inline data.
  static constexpr std::size_t short_bytes = 16;

  /// `over` must outlive it. @throws error as the verbs objects; errc::unsupported if the device does not
  /// take messages as long as `o.message_bytes`.
  lane(const endpoint& owner, const device_port& over, const connection_options& o);
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;

  /// A queue pair on the shared queues.
  [[nodiscard]] verbs::queue_pair make_queue_pair();
  /// Makes the completion queue large enough for all outstanding requests of that many queue pairs: when a
  /// peer dies, each request to it completes with an error, signalled or not.
  void make_room_for(std::size_t queue_pairs);
  /// Size of each send queue, a power of two.
  [[nodiscard]] std::uint32_t send_depth() const noexcept;
  /// Maximum bytes of one request.
  [[nodiscard]] std::size_t largest_request() const noexcept { return over->largest_message(); }
  /// Whether a request may gather its bytes from two places.
  [[nodiscard]] bool gathers() const noexcept { return over->device().attributes().max_sge >= 2; }
  /// Reads and atomics that the device executes at a time for one connection.
  [[nodiscard]] std::uint8_t reads() const noexcept;
  /// Whether the device executes atomic operations.
  [[nodiscard]] bool has_atomics() const noexcept {
    return over->device().attributes().atomic_cap != IBV_ATOMIC_NONE;
  }
  [[nodiscard]] std::size_t registered_bytes() const noexcept {
    return pool.registered_bytes() + receives.registered_bytes();
  }

  const device_port* over;
  connection_options options;
  registered_pool pool;
  receive_queue receives;
  verbs::completion_queue completions;
};

}  // namespace chorale::transport
