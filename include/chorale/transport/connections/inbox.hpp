// Messages and signals over connections by RDMA write, polled in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <chorale/transport/connections/connections.hpp>
#include <chorale/transport/connections/credits.hpp>
#include <chorale/transport/mailbox.hpp>

namespace chorale::transport {

/// Mailbox whose messages are RDMA writes into blocks of the receiver, data and counter in one write,
/// bottom-filled (P2 section 4.1.3); a signal is an RDMA write of one word into a place of the sender's own
/// at the receiver (P1 section 5.1). Neither needs the receiver's CPU, nor a receive request. Cost: one RDMA
/// write a message, one more for each half mailbox that the receiver has read. One thread at a time.
///
/// `try_...` return false as long as they have to wait. @throws error errc::mismatch, errc::peer_lost.
class inbox {
 public:
  /// What it keeps of a peer.
  struct sender {
    credits::account account;
    std::uint64_t signal_sent = 0;
    pool_block staging{};           ///< source of messages that cannot go inline; made when first needed
    bool separate_counter = false;  ///< the device places data in no order: a counter needs its own write
  };

  /// Settings: `block_bytes`, `blocks`. `links` outlives it.
  inbox(connections& links, const config& settings)
      : links_(&links),
        layout_{settings.block_bytes, settings.blocks},
        credits_(links, settings.blocks),
        senders_(links.owner().size()) {}

  /// What connections have to offer for it.
  static connections::options needs(const config& settings, int ranks) noexcept;

  /// Largest payload of one message.
  [[nodiscard]] std::size_t block_bytes() const noexcept { return layout_.payload_bytes(); }
  bool try_signal(int to, epoch now);
  bool try_signalled(int from, epoch now);
  bool try_send(int to, epoch now, std::span<const std::byte> bytes);
  bool try_receive(int from, epoch now, std::span<const std::byte>& message);
  [[nodiscard]] sender* sender_of(int peer) const noexcept { return senders_.find(peer); }
  /// The oldest message of the sender that was handed out is given back.
  void release(sender* from) noexcept { credits_.give_back(from->account); }

  // What connections, and the endpoint, ask of a mechanism.
  void on_accepted(connection& c);
  void on_message(connection&, std::uint64_t index, const ibv_wc&) { links_->receives().post(index); }
  void on_closed(connection& c) noexcept;
  void on_progress() noexcept { credits_.on_progress(); }
  void count(int peer, ledger& l) const noexcept;
  void describe(memory_report& m) const;

 private:
  /// The sender if messages can be sent to it; else goes on connecting.
  [[nodiscard]] sender* ready(int peer) {
    sender* s = senders_.find(peer);
    if (s != nullptr && s->account.link->ready) [[likely]]
      return s;
    return links_->connect(peer) ? &known(peer) : nullptr;
  }
  sender& known(int peer) { return senders_.get(peer, credits::account{&links_->get(peer)}); }

  connections* links_;
  mailbox_layout layout_;
  credits credits_;
  per_peer<sender> senders_;
};

inline bool inbox::try_signalled(int from, epoch now) {
  const sender* s = senders_.find(from);
  if (s == nullptr) return false;
  const connection& c = *s->account.link;
  const std::uint64_t seen = load_acquire(c.words + mailbox_layout::signal_offset);
  const std::uint64_t wanted = signal_word(now);
  if (!reached(seen, wanted)) return false;
  if (seen != wanted && same_call(seen, wanted)) [[unlikely]] {
    links_->owner().inquiry().mismatch(from, now);
    return false;
  }
  // A message that came before the signal and that no call has taken.
  if (c.inbox.data == nullptr) return true;
  const std::byte* end = c.inbox.data + layout_.block_end(s->account.received);
  if (!has_arrived(load_acquire(end - sizeof(std::uint64_t)), s->account.received)) [[likely]]
    return true;
  mailbox_trailer trailer;
  std::memcpy(&trailer, end - sizeof trailer, sizeof trailer);
  if (!is_left_over(trailer.call, now)) return true;
  links_->owner().inquiry().mismatch(from, now, trailer.call);
  return false;
}

inline bool inbox::try_signal(int to, epoch now) {
  sender* s = ready(to);
  if (s == nullptr || !links_->has_room(*s->account.link)) return false;
  s->signal_sent = signal_word(now);
  links_->post_word(*s->account.link, mailbox_layout::signal_offset, s->signal_sent);
  return true;
}

inline bool inbox::try_receive(int from, epoch now, std::span<const std::byte>& message) {
  sender* s = senders_.find(from);
  if (s == nullptr || s->account.link->inbox.data == nullptr) return false;
  const std::byte* end = s->account.link->inbox.data + layout_.block_end(s->account.received);
  const std::uint64_t counter = load_acquire(end - sizeof(std::uint64_t));
  if (!has_arrived(counter, s->account.received)) return false;
  mailbox_trailer trailer;
  std::memcpy(&trailer, end - sizeof trailer, sizeof trailer);
  if (trailer.call != static_cast<std::uint32_t>(now.number) || trailer.signature != now.signature ||
      trailer.bytes > layout_.payload_bytes()) [[unlikely]] {
    links_->owner().inquiry().mismatch(from, now, trailer.call);
    return false;
  }
  message = {end - sizeof trailer - padded(trailer.bytes), trailer.bytes};
  ++s->account.received;
  return true;
}

}  // namespace chorale::transport
