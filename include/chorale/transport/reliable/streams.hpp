// Reliable, ordered streams of packets between all ranks, over the one datagram port of an endpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/transport/control_channel.hpp>
#include <chorale/transport/endpoint.hpp>
#include <chorale/transport/reliable/requests.hpp>
#include <chorale/transport/reliable/statistics.hpp>

namespace chorale::transport::reliable {

class stream_table;

/// Mailbox and emulated memory operations over unreliable datagrams. Each ordered pair of ranks has a stream
/// of packets with 32-bit numbers. A packet stays with its sender until the receiver has said that it has it;
/// that travels with whatever goes the other way, and has a datagram of its own only when half a window has
/// gone without. Loss is found by the receiver: by a hole in the numbers, or when it waits for a rank in
/// vain; then it asks for what is missing (P5 section 4.3). Signals are not acknowledged at all: the newest
/// counts, and who waits for one asks (P1 section 4.3). What is asked wakes the sender's service thread.
///
/// The protocol is a state machine in the library (`stream_table`); this is its owner, which has the
/// endpoint: it reads datagrams and the clock, locks, and says what has failed. `try_...` return false as
/// long as they have to wait. All members may be called with or without the endpoint's lock; `on_datagram`
/// with it.
class streams {
 public:
  /// `owner` outlives it.
  explicit streams(endpoint& owner);
  streams(const streams&) = delete;
  streams& operator=(const streams&) = delete;
  ~streams();

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int ranks() const noexcept { return ranks_; }

  /// Datagrams that may come before this rank looks: what an endpoint of that many ranks should post.
  static std::uint32_t receives_for(int ranks) noexcept;

  // Mailbox.
  [[nodiscard]] std::size_t block_bytes() const noexcept { return block_bytes_; }
  bool try_signal(int to, call_id now);
  bool try_signalled(int from, call_id now);
  bool try_send(int to, call_id now, std::span<const std::byte> bytes);
  bool try_receive(int from, call_id now, std::span<const std::byte>& message);
  [[nodiscard]] static int sender_of(int peer) noexcept { return peer; }
  void release(int from) noexcept;

  // Memory. The regions were checked by the caller; another rank owns them.
  std::uint32_t expose(std::span<const std::byte> memory, bool writable);
  /// The same under the key of a registration.
  void expose_as(std::uint32_t key, std::span<const std::byte> memory, bool writable);
  void conceal(std::uint32_t key, std::span<const std::byte> memory, bool writable) noexcept;
  /// From now on no peer reaches any memory here: what comes for some is refused.
  void withdraw() noexcept;
  bool try_put(write_request& w, call_id now);
  bool try_flush(int peer);
  bool try_notified(int from, call_id now);
  /// To be called while something of `from` (-1: of any rank) is awaited in memory: what is lost is asked
  /// for.
  void expect(int from);
  /// Asks for bytes, or for the old value of an atomic operation; then `try_finish` with the ticket, until it
  /// returns true. `abandon` forgets it: nothing is written to `into` any more. Ticket 0: try again.
  std::uint32_t try_get(int from, std::uint64_t address, std::uint32_t key, std::span<std::byte> into);
  std::uint32_t try_atomic(int on, std::uint64_t address, std::uint32_t key, atomic_operation what,
                           std::uint64_t first, std::uint64_t second, std::uint64_t& old);
  bool try_finish(std::uint32_t ticket);
  void abandon(std::uint32_t ticket) noexcept;
  /// An atomic operation on this rank's own memory, atomic with those of the peers.
  std::uint64_t atomic_here(std::uint64_t address, atomic_operation what, std::uint64_t first,
                            std::uint64_t second);

  // For transports that have another way beside this one: marks in the stream.
  /// False if there is no room: try again.
  bool try_tell(int to, path_mark what);
  /// Offers and answers that came since the last call.
  [[nodiscard]] std::vector<path_news> take_path_news();
  /// True if the peer has said that its messages come the other way from now on.
  [[nodiscard]] bool has_departed(int from) const noexcept;
  /// True if that is so and no message that came before waits here to be received; the same of notices.
  [[nodiscard]] bool has_no_more_messages(int from) const noexcept;
  [[nodiscard]] bool has_no_more_notices(int from) const noexcept;
  /// True if all that was sent to the peer has been delivered.
  bool try_drain(int peer);

  /// Datagrams of the kinds of streams.
  void on_datagram(int from, std::uint16_t kind, std::span<const std::byte> body);
  /// Sends what waits for room.
  void progress();
  /// Waits until every peer has all that this rank has sent, or is lost: nobody is there to send it again
  /// afterwards. Then stops the service thread.
  void close() noexcept;

  /// What a rank that leaves has of a peer, who cannot ask any more; valid until the next call.
  [[nodiscard]] std::span<const std::byte> last_words(int peer);
  void on_farewell(int from, std::span<const std::byte> body);

  [[nodiscard]] stream_statistics statistics() const;
  /// Bytes of packets that are kept, sent or received. Bounded, whatever the number of peers.
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
  /// One attempt at what that rank sends in call `now`: `take()` gives a `finding`.
  template <class Take>
  bool attempt(int from, call_id now, const Take& take);
  /// Makes room in the stream to that rank by reading what has come; asks for it if that does not help.
  bool make_room(int to);
  void await(int from);
  /// Whether a rank that leaves still waits until that one has everything.
  [[nodiscard]] bool is_awaited(int peer) const;
  bool confirm();

  endpoint* owner_;
  service_lock* lock_;
  int rank_;
  int ranks_;
  std::size_t block_bytes_;  ///< payload of a message
  std::unique_ptr<port> port_;
  std::unique_ptr<stream_table> table_;
  std::vector<std::byte> last_words_;
  control_channel::subscription datagrams_;
};

}  // namespace chorale::transport::reliable
