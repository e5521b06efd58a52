// Messages and signals over connections by send and receive, matched by sender and order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <chorale/transport/connections/connections.hpp>
#include <chorale/transport/connections/credits.hpp>

namespace chorale::transport {

/// Mailbox as MPI over send and receive has it: copy, match, copy. A message is copied into a registered
/// staging block and sent; it takes a block of the shared receive queue, is found on the completion queue and
/// waits in a queue of unexpected messages, by sender and in order, until somebody receives it. A signal is a
/// send of a header alone.
///
/// At most `config::blocks` messages of a sender wait here; it is told when they are given back. The shared
/// receive queue has at most 512 blocks. When half of them hold messages that nobody has received yet,
/// further ones are copied out, so that the message that is waited for always finds a block; until this rank
/// looks, senders wait for one (RNR). One thread at a time.
///
/// `try_...` return false as long as they have to wait. @throws error errc::mismatch, errc::peer_lost.
class matched {
 public:
  enum class kind : std::uint32_t { message = 1, signal = 2 };
  /// In front of each payload, which then begins on a 16-byte boundary.
  struct message_header {
    kind what;
    std::uint32_t call;  ///< its number
    std::uint64_t word;  ///< of a signal; of a message its bytes, and the signature of the call above them
  };
  static_assert(sizeof(message_header) == 16);
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
    std::uint64_t arrived = 0;
    std::vector<unexpected> places{};  ///< message n in place n % blocks; made when the peer first sends
    pool_block staging{};
  };

  /// Settings: `block_bytes`, `blocks`. `links` outlives it.
  matched(connections& links, const config& settings)
      : links_(&links),
        block_size_(settings.block_bytes),
        blocks_(settings.blocks),
        credits_(links, settings.blocks),
        senders_(links.owner().size()) {}

  /// What connections have to offer for it.
  static connections::options needs(const config& settings, int ranks) noexcept;

  /// Largest payload of one message.
  [[nodiscard]] std::size_t block_bytes() const noexcept { return block_size_ - sizeof(message_header); }
  bool try_signal(int to, epoch now);
  bool try_signalled(int from, epoch now);
  bool try_send(int to, epoch now, std::span<const std::byte> bytes);
  bool try_receive(int from, epoch now, std::span<const std::byte>& message);
  [[nodiscard]] sender* sender_of(int peer) const noexcept { return senders_.find(peer); }
  void release(sender* from) noexcept;
  /// Messages that were copied out of the receive queue because too many waited in it.
  [[nodiscard]] std::uint64_t copied_out() const noexcept { return copied_out_; }

  // What connections, and the endpoint, ask of a mechanism.
  void on_accepted(connection&) noexcept {}
  void on_message(connection& from, std::uint64_t index, const ibv_wc& wc);
  void on_closed(connection& c) noexcept;
  void on_progress() noexcept { credits_.on_progress(); }
  void count(int peer, ledger& l) const noexcept;
  void describe(memory_report& m) const;

 private:
  [[nodiscard]] sender* ready(int peer);
  sender& known(int peer) { return senders_.get(peer, credits::account{&links_->get(peer)}); }
  void keep(sender& from, std::uint64_t index, const message_header& header);

  connections* links_;
  std::size_t block_size_;
  std::uint32_t blocks_;
  credits credits_;
  per_peer<sender> senders_;
  std::uint32_t held_ = 0;  ///< receive blocks that are not posted
  std::uint64_t copied_out_ = 0;
};

}  // namespace chorale::transport
