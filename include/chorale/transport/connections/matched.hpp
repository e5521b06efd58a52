// Messages and signals over connections as message passing has them, matched by sender and order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <chorale/transport/connections/connections.hpp>
#include <chorale/transport/connections/credits.hpp>
#include <chorale/transport/posting.hpp>

namespace chorale::transport {

class eager_ring;
class rma_queue;
class posted_messages;

/// Mailbox as MPI over send and receive has it: copy, match, copy. A message is copied into a registered
/// staging block and sent; it takes a block of the shared receive queue, is found on the completion queue and
/// waits in a queue of unexpected messages, by sender and in order, until somebody receives it. A signal is a
/// send of a header alone.
///
/// Messages of any length are posted. One of at most `config::send_receive_eager_bytes` travels in as many
/// blocks as it needs. For a longer one its request takes the place of a message; the receiver registers the
/// destination when it has matched it, and answers with the address; the sender writes there, and sends the
/// end behind (`config::send_receive_long` has other ways).
///
/// At most `config::blocks` messages of a sender wait here; it is told when they are given back. The shared
/// receive queue has at most 512 blocks. When half of them hold messages that nobody has received yet,
/// further ones are copied out, so that the message that is waited for always finds a block; until this rank
/// looks, senders wait for one (RNR).
///
/// With `eager_policy::rdma_write` messages and requests are written into a ring of blocks for each sender
/// instead, as MVAPICH has done since 2003, and a signal is the write of a word; answers and ends remain
/// sends. One thread at a time.
///
/// `try_...` return false as long as they have to wait. @throws error errc::mismatch, errc::peer_lost.
class matched {
 public:
  enum class kind : std::uint32_t {
    message = 1,
    signal = 2,
    request = 3,  ///< of a long message: may it be sent?
    clear = 4,    ///< it may, and there
    placed = 5,   ///< it is there
  };
  /// In front of each payload, which then begins on a 16-byte boundary.
  struct message_header {
    kind what;
    std::uint32_t call;  ///< its number
    std::uint64_t word;  ///< of a signal; of a message its bytes, and the signature of the call above them
  };
  static_assert(sizeof(message_header) == 16);
  /// Behind the header of a request.
  struct request_body {
    std::uint64_t bytes;
    std::uint64_t number;
  };
  /// A message that nobody has received, or that has not been given back.
  struct unexpected {
    message_header header{};
    const std::byte* payload = nullptr;
    std::uint64_t receive = 0;          ///< number of the receive block that holds it ...
    std::unique_ptr<std::byte[]> copy;  ///< ... unless this does
  };
  /// What it keeps of a peer.
  struct sender {
    credits::account account;
    std::uint64_t signal_sent = 0;
    std::uint64_t arrived = 0;         ///< messages that have been put in their places; a ring may hold more
    std::vector<unexpected> places{};  ///< message n in place n % blocks; made when the peer first sends
    pool_block staging{};
    bool separate_counter = false;  ///< the device places data in no order: a counter needs its own write
  };
  struct message_statistics {
    std::uint64_t requests = 0;  ///< for long messages that this rank sends
    std::uint64_t answers = 0;   ///< for those that it receives
    std::uint64_t blocks = 0;    ///< messages in blocks that this rank has sent
  };

  /// Settings: `send_receive_...`, `blocks`. `links` and `memory` outlive it.
  matched(connections& links, rma_queue& memory, const config& settings);
  ~matched();

  /// What connections have to offer for it.
  static connections::options needs(const config& settings, int ranks) noexcept;

  /// Largest payload of one message in a block.
  [[nodiscard]] std::size_t block_bytes() const noexcept { return payload_bytes_; }
  bool try_signal(int to, call_id now);
  bool try_signalled(int from, call_id now);
  bool try_send(int to, call_id now, std::span<const std::byte> bytes) {
    if (bytes.size() > payload_bytes_) [[unlikely]]
      reject(to, bytes.size());
    // It comes behind what has been posted before.
    if (posts_ && has_posted_sends(to)) [[unlikely]]
      return false;
    return send_block(to, now, bytes);
  }
  bool try_receive(int from, call_id now, std::span<const std::byte>& message);
  [[nodiscard]] sender* sender_of(int peer) const noexcept { return senders_.find(peer); }
  void release(sender* from) noexcept;
  /// Messages that were copied out of the receive queue because too many waited in it.
  [[nodiscard]] std::uint64_t copied_out() const noexcept { return copied_out_; }

  // Messages of any length.
  posted_message post_send(int to, call_id now, std::span<const std::byte> bytes);
  posted_message post_receive(int from, call_id now, std::span<std::byte> into);
  bool try_sent(int to, call_id now);
  bool try_received(int from, call_id now);
  [[nodiscard]] bool is_over(const posted_message& message) const noexcept;
  [[nodiscard]] message_statistics statistics() const noexcept;

  // What connections, and the endpoint, ask of a mechanism.
  void on_accepted(connection& c);
  void on_message(connection& from, std::uint64_t index, const ibv_wc& wc);
  void on_closed(connection& c) noexcept;
  void on_progress();
  void withdraw() noexcept;
  void settle() noexcept;
  void close() noexcept;
  void count(int peer, ledger& l) const noexcept;
  void describe(memory_report& m) const;
  [[nodiscard]] std::size_t registered_bytes() const noexcept;

  // Of which messages of any length are made.
  [[nodiscard]] static bool is_of(const message_header& header, call_id now) noexcept {
    return header.call == static_cast<std::uint32_t>(now.number) && header.word >> 32 == now.signature;
  }
  [[nodiscard]] static std::uint32_t bytes_of(const message_header& header) noexcept {
    return static_cast<std::uint32_t>(header.word);
  }
  [[nodiscard]] static request_body request_in(const unexpected& message) noexcept;
  /// Sends a header alone. Precondition: there is room.
  static void post_header(connections& links, connection& c, const message_header& header);
  bool send_block(int to, call_id now, std::span<const std::byte> bytes) {
    return send_in_block(to,
                         {kind::message, static_cast<std::uint32_t>(now.number),
                          std::uint64_t{now.signature} << 32 | bytes.size()},
                         bytes);
  }
  bool send_request(int to, call_id now, const request_body& request);
  /// What has come first of that rank and was not received yet, or null.
  [[nodiscard]] const unexpected* oldest(int from);
  /// It has been received; it is still to be released.
  void hand_out(int from) noexcept { ++senders_.find(from)->account.received; }

 private:
  [[nodiscard]] sender* ready(int peer);
  sender& known(int peer) {
    if (sender* s = senders_.find(peer)) [[likely]]
      return *s;
    return senders_.get(peer, credits::account{&links_->get(peer)});
  }
  [[noreturn]] void reject(int to, std::size_t bytes) const;
  /// True if what has been posted to that rank has not been sent yet, after another attempt.
  [[nodiscard]] bool has_posted_sends(int to);
  /// Looks for what has come, and whether it is for what has been posted. Null if nothing is to be received.
  [[nodiscard]] sender* look_for_message(int from, call_id now);
  /// What has come first of that rank is not the message that is received. @throws error if it is wrong.
  void doubt(int from, call_id now, const unexpected& next) const;
  void advance();
  bool send_in_block(int to, message_header header, std::span<const std::byte> bytes);
  /// Whether it takes a place: a message or a request, of the length that its header says.
  [[nodiscard]] static bool is_kept(const message_header& header, std::size_t body) noexcept;
  void look_into_ring(sender& from);
  void keep(sender& from, std::uint64_t index, const message_header& header, std::size_t bytes);
  /// What needs no place. Returns what is wrong with it, or null.
  [[nodiscard]] const char* take(connection& from, const message_header& header,
                                 std::span<const std::byte> body);

  connections* links_;
  std::size_t payload_bytes_;
  std::size_t stride_;  ///< of blocks
  std::uint32_t blocks_;
  credits credits_;
  per_peer<sender> senders_;
  std::uint32_t held_ = 0;  ///< receive blocks that are not posted
  std::uint64_t copied_out_ = 0;
  bool posts_ = false;  ///< something that was posted is not over
  std::unique_ptr<posted_messages> posted_;
  std::unique_ptr<eager_ring> ring_;  ///< unless messages take receives
};

inline bool matched::try_receive(int from, call_id now, std::span<const std::byte>& message) {
  sender* s = senders_.find(from);
  if (s == nullptr || s->arrived == s->account.received || posts_) [[unlikely]] {
    s = look_for_message(from, now);
    if (s == nullptr) return false;
  }
  const unexpected& next = s->places[s->account.received % blocks_];
  if (!is_of(next.header, now) || next.header.what != kind::message) [[unlikely]] {
    doubt(from, now, next);
    return false;
  }
  clock::worked(host_work::match);
  message = {next.payload, bytes_of(next.header)};
  ++s->account.received;
  return true;
}

}  // namespace chorale::transport
