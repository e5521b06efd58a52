// SPDX-License-Identifier: Apache-2.0
// Messages and signals over connections by message passing, matched by sender and order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <chorale/core/sendable.hpp>
#include <chorale/transport/connections/connections.hpp>
#include <chorale/transport/connections/credits.hpp>
#include <chorale/transport/endpoint/posting.hpp>
#include <chorale/transport/memory/per_peer.hpp>

namespace chorale::transport {

class eager_ring;
class rma_queue;
class posted_messages;

/// A mailbox that works like MPI over send and receive: copy, match, copy. A message is copied into a
/// registered staging block and sent; it consumes a receive and its block, is found on the completion queue
/// and waits in a queue of unexpected messages, per sender and in order, until it is received. A signal is a
/// send of only a header.
///
/// Messages of any length are posted. Up to `config::send_receive_eager_bytes` they travel in as many blocks
/// as they need. A longer one is announced by a request in place of a message; the receiver registers the
/// destination once it has matched the request, and answers with the address; the sender writes there, and
/// then sends the end (`config::send_receive_long` has alternatives). If the memory of either side cannot be
/// registered, the message travels in blocks.
///
/// At most `config::blocks` messages of a sender wait here; the sender is notified when they are released. A
/// shared receive queue has at most 512 blocks. When half of them hold messages that were not received yet,
/// further ones are copied out, so that the awaited message always finds a block; while this rank does not
/// poll, senders wait for one (RNR).
///
/// With `eager_policy::rdma_write`, messages and requests are instead written into a ring of blocks per
/// sender, as in MVAPICH since 2003, and a signal is the write of a word; answers and ends remain sends. One
/// thread at a time.
///
/// `try_...` return false while they have to wait. @throws error errc::mismatch, errc::peer_lost.
class send_receive_mailbox {
 public:
  enum class kind : std::uint32_t {
    message = 1,
    signal = 2,
    request = 3,  ///< asks to send a long message
    clear = 4,    ///< grants it, with the destination
    placed = 5,   ///< the data has been placed
    copies = 6,   ///< the data follows in blocks instead
  };
  /// Precedes each payload, which then begins on a 16-byte boundary.
  struct message_header {
    kind what;
    std::uint32_t call;  ///< call number
    /// For a signal, its word; for a message, its bytes, with the call's signature in the upper half
    std::uint64_t word;
  };
  static_assert(sizeof(message_header) == 16 && detail::sendable<message_header>);
  /// Follows the header of a request.
  struct request_body {
    std::uint64_t bytes;
    std::uint64_t number;
  };
  /// A message that was not received, or not released yet.
  struct unexpected {
    message_header header{};
    const std::byte* payload = nullptr;
    std::uint64_t receive = 0;          ///< number of the receive block that holds it ...
    std::unique_ptr<std::byte[]> copy;  ///< ... unless it was copied here
  };
  /// State per peer.
  struct sender {
    credits::account account;
    std::uint64_t signal_sent = 0;
    std::uint64_t arrived = 0;         ///< messages stored in `places`; a ring may hold more
    std::vector<unexpected> places{};  ///< message n in place n % blocks; allocated when the peer first sends
    pool_block staging{};
  };
  struct message_statistics {
    std::uint64_t requests = 0;  ///< for long messages sent by this rank
    std::uint64_t answers = 0;   ///< for long messages received by it
    std::uint64_t blocks = 0;    ///< block messages sent by this rank
  };

  /// Settings: `send_receive_...`, `blocks`. `links` and `memory` must outlive this.
  send_receive_mailbox(connections& links, rma_queue& memory, const config& settings);
  ~send_receive_mailbox();

  /// What it requires of connections.
  static connection_options needs(bool copies, const config& settings, int ranks) noexcept;

  /// Largest payload of one block message in bytes.
  [[nodiscard]] std::size_t block_bytes() const noexcept { return payload_bytes_; }
  bool try_signal(int to, call_id now);
  bool try_signalled(int from, call_id now);
  bool try_send(int to, call_id now, std::span<const std::byte> bytes) {
    if (bytes.size() > payload_bytes_) [[unlikely]]
      reject(to, bytes.size());
    // Keeps the order with messages posted before.
    if (posts_ && has_posted_sends(to)) [[unlikely]]
      return false;
    return send_block(to, now, bytes);
  }
  bool try_receive(int from, call_id now, std::span<const std::byte>& message);
  [[nodiscard]] sender* sender_of(int peer) const noexcept { return senders_.find(peer); }
  void release(sender* from) noexcept;
  /// Messages copied out of the receive queue because too many waited in it.
  [[nodiscard]] std::uint64_t copied_out() const noexcept { return copied_out_; }

  // Messages of any length.
  posted_message post_send(int to, call_id now, std::span<const std::byte> bytes);
  posted_message post_receive(int from, call_id now, std::span<std::byte> into);
  bool try_sent(int to, call_id now);
  bool try_received(int from, call_id now);
  [[nodiscard]] bool is_over(const posted_message& message) const noexcept;
  [[nodiscard]] message_statistics statistics() const noexcept;

  // The interface for connections and the endpoint.
  void on_accepted(connection& c) { known(c.peer); }
  void on_written(connection& from, std::uint32_t count);
  void on_message(connection& from, std::uint64_t index, const ibv_wc& wc);
  void on_closed(connection& c) noexcept;
  void on_progress();
  void withdraw() noexcept;
  void settle() noexcept;
  void close() noexcept;
  void count(int peer, ledger& l) const noexcept;
  void describe(memory_report& m) const;
  [[nodiscard]] std::size_t registered_bytes() const noexcept;

  // Building blocks of messages of any length.
  [[nodiscard]] static bool is_of(const message_header& header, call_id now) noexcept {
    return header.call == static_cast<std::uint32_t>(now.number) && header.word >> 32 == now.signature;
  }
  [[nodiscard]] static std::uint32_t bytes_of(const message_header& header) noexcept {
    return static_cast<std::uint32_t>(header.word);
  }
  [[nodiscard]] static request_body request_in(const unexpected& message) noexcept;
  /// Sends only a header. Precondition: there is room.
  static void post_header(connections& links, connection& c, const message_header& header);
  bool send_block(int to, call_id now, std::span<const std::byte> bytes) {
    return send_in_block(to,
                         {kind::message, static_cast<std::uint32_t>(now.number),
                          std::uint64_t{now.signature} << 32 | bytes.size()},
                         bytes);
  }
  bool send_request(int to, call_id now, const request_body& request);
  /// The oldest unreceived message of that rank, or null.
  [[nodiscard]] const unexpected* oldest(int from);
  /// Marks it as received; it must still be released.
  void hand_out(int from) noexcept { ++senders_.find(from)->account.received; }

 private:
  [[nodiscard]] sender* ready(int peer);
  sender& known(int peer) {
    if (sender* s = senders_.find(peer)) [[likely]]
      return *s;
    return senders_.get(peer, credits::account{&links_->get(peer)});
  }
  [[noreturn]] void reject(int to, std::size_t bytes) const;
  /// True if messages posted to that rank are still unsent after another attempt.
  [[nodiscard]] bool has_posted_sends(int to);
  /// Looks for a message to receive, posted ones first. Null if there is none.
  [[nodiscard]] sender* look_for_message(int from, call_id now);
  /// The oldest message of that rank is not the expected one. @throws error if it is wrong.
  void check_mismatch(int from, call_id now, const unexpected& next) const;
  void advance();
  bool send_in_block(int to, message_header header, std::span<const std::byte> bytes);
  /// Whether it occupies one of `places`: a message or a request, of the length that its header says.
  [[nodiscard]] static bool is_kept(const message_header& header, std::size_t body) noexcept;
  void look_into_ring(sender& from);
  void keep(sender& from, std::uint64_t index, const message_header& header, std::size_t bytes);
  /// Handles all other kinds. Returns a description of the error, or null.
  [[nodiscard]] const char* take(connection& from, const message_header& header,
                                 std::span<const std::byte> body);

  connections* links_;
  std::size_t payload_bytes_;
  std::size_t stride_;  ///< of blocks
  std::uint32_t blocks_;
  credits credits_;
  per_peer<sender> senders_;
  std::uint32_t held_ = 0;  ///< receive blocks that are currently not posted
  std::uint64_t copied_out_ = 0;
  bool posts_ = false;  ///< something posted is incomplete
  std::unique_ptr<posted_messages> posted_;
  std::unique_ptr<eager_ring> ring_;  ///< null if messages use receives
};

inline bool send_receive_mailbox::try_receive(int from, call_id now, std::span<const std::byte>& message) {
  sender* s = senders_.find(from);
  if (s == nullptr || s->arrived == s->account.received || posts_) [[unlikely]] {
    s = look_for_message(from, now);
    if (s == nullptr) return false;
  }
  const unexpected& next = s->places[s->account.received % blocks_];
  if (!is_of(next.header, now) || next.header.what != kind::message) [[unlikely]] {
    check_mismatch(from, now, next);
    return false;
  }
  clock::worked(host_work::match);
  message = {next.payload, bytes_of(next.header)};
  ++s->account.received;
  return true;
}

}  // namespace chorale::transport
