// SPDX-License-Identifier: Apache-2.0
// Reliable, ordered packet streams between all ranks, over the datagram port of an endpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/transport/endpoint/endpoint.hpp>
#include <chorale/transport/reliable/requests.hpp>
#include <chorale/transport/reliable/statistics.hpp>
#include <chorale/transport/wire/control_channel.hpp>

namespace chorale::transport::reliable {

class stream_table;

/// A mailbox and emulated memory operations over unreliable datagrams. Each ordered pair of ranks has a
/// stream of packets with 32-bit sequence numbers. The sender keeps a packet until the receiver has
/// acknowledged it; acknowledgements are piggybacked on reverse traffic and sent separately only once half a
/// window has passed without. The receiver detects loss, by a gap in the numbers or because an awaited packet
/// does not arrive, and then requests retransmission (P5 section 4.3). Signals are not acknowledged: only the
/// newest counts, and a rank that waits for one asks (P1 section 4.3). Such questions wake the sender's
/// service thread.
///
/// The protocol is a sans-I/O state machine in the library (`stream_table`). This class owns it and connects
/// it to the endpoint: reads datagrams and the clock, locks, and reports failures. `try_...` return false
/// while they have to wait. All members may be called with or without the endpoint's lock; `on_datagram` is
/// called with it.
class streams {
 public:
  /// `owner` must outlive this.
  explicit streams(endpoint& owner);
  streams(const streams&) = delete;
  streams& operator=(const streams&) = delete;
  ~streams();

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int ranks() const noexcept { return ranks_; }

  /// Datagrams that may arrive between two polls: the number of receives that an endpoint with that many
  /// ranks should post.
  static std::uint32_t receives_for(int ranks) noexcept;

  // Mailbox.
  [[nodiscard]] std::size_t block_bytes() const noexcept { return block_bytes_; }
  bool try_signal(int to, call_id now);
  bool try_signalled(int from, call_id now);
  bool try_send(int to, call_id now, std::span<const std::byte> bytes);
  bool try_receive(int from, call_id now, std::span<const std::byte>& message);
  [[nodiscard]] static int sender_of(int peer) noexcept { return peer; }
  void release(int from) noexcept;

  // Memory. The caller has checked the regions; another rank owns them.
  std::uint32_t expose(std::span<const std::byte> memory, bool writable);
  /// The same under the key of an existing registration.
  void expose_as(std::uint32_t key, std::span<const std::byte> memory, bool writable);
  void conceal(std::uint32_t key, std::span<const std::byte> memory, bool writable) noexcept;
  /// Ends all peers' access to memory here: their operations are rejected from now on.
  void withdraw() noexcept;
  bool try_put(write_request& w, call_id now);
  bool try_flush(int peer);
  bool try_notified(int from, call_id now);
  /// Call while memory is polled for something of `from` (-1: any rank): requests retransmission of losses.
  void expect(int from);
  /// Requests bytes, or the old value of an atomic operation; then call `try_finish` with the ticket until it
  /// returns true. `abandon` cancels it: nothing is written to `into` any more. Ticket 0: try again.
  std::uint32_t try_get(int from, std::uint64_t address, std::uint32_t key, std::span<std::byte> into);
  std::uint32_t try_atomic(int on, std::uint64_t address, std::uint32_t key, atomic_operation what,
                           std::uint64_t first, std::uint64_t second, std::uint64_t& old);
  bool try_finish(std::uint32_t ticket);
  void abandon(std::uint32_t ticket) noexcept;
  /// Call before reading this rank's own exposed memory: without a service thread, peers' operations on it
  /// take effect only now.
  void serve_peers();
  /// An atomic operation on this rank's own memory, atomic with respect to those of peers.
  std::uint64_t atomic_here(std::uint64_t address, atomic_operation what, std::uint64_t first,
                            std::uint64_t second);

  // For transports with a second path to peers: marks in the stream.
  /// False if there is no room: try again.
  bool try_tell(int to, path_mark what);
  /// Offers and answers that arrived since the last call.
  [[nodiscard]] std::vector<received_path_mark> take_path_marks();
  /// True if the peer has announced that later messages use the other path.
  [[nodiscard]] bool has_departed(int from) const noexcept;
  /// True if, in addition, no earlier message is still waiting here to be received; likewise for
  /// notifications.
  [[nodiscard]] bool has_no_more_messages(int from) const noexcept;
  [[nodiscard]] bool has_no_more_notices(int from) const noexcept;
  /// True if everything sent to the peer has been delivered.
  bool try_drain(int peer);

  /// Handles datagrams of the stream kinds.
  void on_datagram(int from, std::uint16_t kind, std::span<const std::byte> body);
  /// Sends packets that waited for room.
  void progress();
  /// Waits until every peer has received everything from this rank or is lost, since this rank cannot
  /// retransmit afterwards. Then stops the service thread.
  void close() noexcept;

  /// The acknowledgement for a peer, sent when this rank leaves, since the peer cannot ask for one later;
  /// valid until the next call.
  [[nodiscard]] std::span<const std::byte> last_words(int peer);
  void on_farewell(int from, std::span<const std::byte> body);

  [[nodiscard]] stream_statistics statistics() const;
  /// Bytes of packets kept for sending or receiving. Bounded, whatever the number of peers.
  [[nodiscard]] std::size_t memory_bytes() const;
  [[nodiscard]] std::size_t exposed_bytes() const;

 private:
  class port;

  [[gnu::always_inline]] void check(int peer, const char* what) const {
    if (static_cast<unsigned>(peer) >= static_cast<unsigned>(ranks_) || peer == rank_) [[unlikely]]
      reject(peer, what);
  }
  [[noreturn]] void reject(int peer, const char* what) const;
  void require_sound(int peer) const;
  [[gnu::cold]] void lose(int peer) const;
  /// Tries once to receive from that rank in call `now`: `take()` returns a `finding`.
  template <class Take>
  bool attempt(int from, call_id now, const Take& take);
  /// Frees room in the stream to that rank by reading datagrams; asks the rank if that does not help.
  bool make_room(int to);
  void await(int from);
  /// Whether this rank, before it leaves, still has to wait until `peer` has received everything.
  [[nodiscard]] bool is_awaited(int peer) const;
  /// Asks the peers that have not confirmed everything; returns the first of them.
  std::optional<int> confirm();

  endpoint* owner_;
  service_lock* lock_;
  int rank_;
  int ranks_;
  std::size_t block_bytes_;  ///< largest payload of a message
  std::unique_ptr<port> port_;
  std::unique_ptr<stream_table> table_;
  std::vector<std::byte> last_words_;
  control_channel::subscription datagrams_;
};

}  // namespace chorale::transport::reliable
