// Reliable, ordered streams of packets between all ranks, over the one datagram port of an endpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/concepts.hpp>
#include <chorale/transport/endpoint.hpp>
#include <chorale/transport/reliable/exposures.hpp>
#include <chorale/transport/reliable/packet.hpp>
#include <chorale/transport/reliable/packet_pool.hpp>

namespace chorale::transport::reliable {

/// What the streams of a rank have done since they were made.
struct stream_statistics {
  std::uint64_t packets = 0;           ///< numbered packets sent, each counted once
  std::uint64_t signals = 0;           ///< signals sent, each counted once
  std::uint64_t resent = 0;            ///< packets and signals sent again
  std::uint64_t acknowledgements = 0;  ///< datagrams sent for nothing but to say what has come
  std::uint64_t resend_requests = 0;   ///< datagrams that asked for something to be sent again
  std::uint64_t answers = 0;           ///< answers to those and to questions that had nothing to send again
  std::uint64_t questions = 0;         ///< datagrams that asked for an acknowledgement
  std::uint64_t duplicates = 0;        ///< packets that had come before
  std::uint64_t early = 0;             ///< packets that had overtaken others
  std::uint64_t dropped = 0;           ///< packets for which there was no room
  std::uint64_t refused = 0;           ///< accesses of peers that were not allowed
  std::uint64_t most_buffered = 0;     ///< most messages of one rank that waited here at once
};

/// Mailbox and emulated memory operations over unreliable datagrams. Each ordered pair of ranks has a stream
/// of packets with 32-bit numbers. A packet stays with its sender until the receiver has said that it has it;
/// that travels with whatever goes the other way, and has a datagram of its own only when half a window has
/// gone without. Loss is found by the receiver: by a hole in the numbers, or when it waits for a rank in
/// vain; then it asks for what is missing (P5 section 4.3). Signals are not acknowledged at all: the newest
/// counts, and who waits for one asks (P1 section 4.3). What is asked wakes the sender's service thread.
///
/// `try_...` return false as long as they have to wait. All members may be called with or without the
/// endpoint's lock; `on_datagram` with it. docs/datagrams.md has the protocol and its constants.
class streams {
 public:
  /// `owner` outlives it.
  explicit streams(endpoint& owner);
  streams(const streams&) = delete;
  streams& operator=(const streams&) = delete;
  ~streams();

  [[nodiscard]] int rank() const noexcept { return owner_->rank(); }
  [[nodiscard]] int ranks() const noexcept { return owner_->size(); }

  /// Datagrams that may come before this rank looks: what an endpoint of that many ranks should post.
  static std::uint32_t receives_for(int ranks) noexcept;

  // Mailbox.
  [[nodiscard]] std::size_t block_bytes() const noexcept { return block_bytes_; }
  bool try_signal(int to, epoch now);
  bool try_signalled(int from, epoch now);
  bool try_send(int to, epoch now, std::span<const std::byte> bytes);
  bool try_receive(int from, epoch now, std::span<const std::byte>& message);
  [[nodiscard]] static int sender_of(int peer) noexcept { return peer; }
  void release(int from) noexcept;

  // Memory. The regions were checked by the caller; another rank owns them.
  std::uint32_t expose(std::span<const std::byte> memory, bool writable);
  /// The same under the key of a registration.
  void expose_as(std::uint32_t key, std::span<const std::byte> memory, bool writable);
  void conceal(std::uint32_t key, std::span<const std::byte> memory, bool writable) noexcept;
  /// A write under way; `sent` counts the bytes that have been handed over.
  struct write {
    remote_region target;
    std::size_t offset = 0;
    std::span<const std::byte> from;
    bool notified = false;
    std::size_t sent = 0;
    bool complete = false;
  };
  /// From now on no peer reaches any memory here: what comes for some is refused.
  void withdraw() noexcept;
  bool try_put(write& w, epoch now);
  bool try_flush(int peer);
  bool try_notified(int from, epoch now);
  /// To be called while something of `from` (-1: of any rank) is awaited in memory: what is lost is asked
  /// for.
  void expect(int from);
  /// Asks for bytes, or for the old value of an atomic operation; then `try_finish` with the ticket, until it
  /// returns true. `abandon` forgets it: nothing is written to `into` any more. Ticket 0: try again.
  std::uint32_t try_get(remote_region source, std::size_t offset, std::span<std::byte> into);
  std::uint32_t try_atomic(remote_region target, std::size_t offset, atomic_operation what,
                           std::uint64_t first, std::uint64_t second, std::uint64_t& old);
  bool try_finish(std::uint32_t ticket);
  void abandon(std::uint32_t ticket) noexcept;
  /// An atomic operation on this rank's own memory, atomic with those of the peers.
  std::uint64_t atomic_here(std::uint64_t address, atomic_operation what, std::uint64_t first,
                            std::uint64_t second);

  // For transports that have another way beside this one: packets without content, in their place in the
  // stream.
  struct path_news {
    int from;
    packet_type what;
  };
  /// False if there is no room: try again.
  bool try_tell(int to, packet_type what);
  /// Offers and answers that came since the last call.
  [[nodiscard]] std::vector<path_news> take_path_news();
  /// True if the peer has said that its messages come the other way from now on.
  [[nodiscard]] bool has_departed(int from) const noexcept;
  /// True if that is so and no message that came before waits here to be received; the same of notices.
  [[nodiscard]] bool has_no_more_messages(int from) const noexcept;
  [[nodiscard]] bool has_no_more_notices(int from) const noexcept;
  /// True if all that was sent to the peer has been delivered.
  bool try_drain(int peer);

  /// Datagrams of the kinds of `stream_kind`.
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
  struct stream;
  struct operation;
  struct due_reply;

  stream& at(int peer) const noexcept { return *streams_[static_cast<std::size_t>(peer)]; }
  stream& checked(int peer, const char* what) const;
  void require_sound(stream& s) const;

  // Sending.
  [[nodiscard]] bool has_room(stream& s) const noexcept;
  template <class Body>
  void push(stream& s, packet_type type, std::uint8_t flags, epoch now, const Body& body,
            std::span<const std::byte> payload);
  void pump(stream& s);
  bool transmit(stream& s, std::uint32_t number, bool first_time);
  void press(stream& s);

  template <class MakeBody>
  std::uint32_t request(int peer, const char* what, packet_type type, operation& o, MakeBody&& body);

  // Receiving.
  void on_packet(stream& s, std::span<const std::byte> body);
  void on_signal(stream& s, const signal_body& b);
  void on_report(stream& s, const report_body& b);
  void on_question(stream& s, const question_body& b);
  void acknowledged(stream& s, std::uint32_t upto, std::uint32_t released, bool refused);
  bool deliver(stream& s, std::span<const std::byte> bytes);
  bool deliver(stream& s, const packet& p);
  void deliver_kept(stream& s);
  bool store(stream& s, const packet& p);
  void on_put(stream& s, const packet& p, const put_body& b);
  void on_read(stream& s, const read_body& b);
  void on_reply(const stream& s, const reply_body& b, std::span<const std::byte> payload);
  void on_atomic(stream& s, const atomic_body& b);
  void on_refusal(stream& s, const refusal_body& b);
  void refuse(stream& s, std::uint64_t address, std::uint64_t bytes, std::uint32_t key, std::uint32_t ticket,
              refusal_reason why);
  void send_replies(stream& s);

  // Loss.
  [[nodiscard]] static report_body state_of(const stream& s) noexcept;
  void take_state(stream& s, const report_body& b);
  void report(stream& s, resend what, bool solicited, std::uint64_t& counter);
  void ask(stream& s, bool solicited);
  void waits(stream& s);
  void waited(stream& s) noexcept;
  void lag(stream& s);
  bool send_signal(stream& s, std::uint64_t word, std::uint32_t after);
  bool is_unconfirmed(stream& s) const noexcept;
  bool confirm();

  endpoint* owner_;
  std::size_t room_;         ///< bytes of a packet
  std::size_t block_bytes_;  ///< payload of a message
  std::uint32_t blocks_;
  packet_pool pool_;
  exposures exposures_;
  std::vector<std::unique_ptr<stream>> streams_;
  std::map<std::uint32_t, operation> operations_;  ///< reads and atomics of this rank, by ticket
  std::uint32_t next_ticket_ = 1;
  std::vector<int> lagging_;
  std::vector<path_news> path_news_;
  stream_statistics counts_;
  report_body last_words_{};
  control_channel::subscription datagrams_;
};

}  // namespace chorale::transport::reliable
