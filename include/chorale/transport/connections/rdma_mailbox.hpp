// SPDX-License-Identifier: Apache-2.0
// Messages and signals over connections by RDMA write, polled in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include <chorale/transport/connections/connections.hpp>
#include <chorale/transport/connections/credits.hpp>
#include <chorale/transport/memory/per_peer.hpp>
#include <chorale/transport/wire/mailbox.hpp>

namespace chorale::transport {

class shared_place;
class shared_staging;

/// A mailbox whose messages are RDMA writes into blocks of the receiver, data and counter in one write,
/// bottom-filled (P2 section 4.1.3); a signal is an RDMA write of one word into the sender's slot at the
/// receiver (P1 section 5.1). Neither involves the receiver's CPU or a receive request. Cost: one RDMA write
/// per message, plus one for each half mailbox that the receiver has read. One thread at a time.
///
/// `try_...` return false while they have to wait. @throws error errc::mismatch, errc::peer_lost.
class rdma_mailbox {
 public:
  /// State per peer.
  struct sender {
    credits::account account;
    std::size_t send_end;     ///< end of the next message to the peer, in its inbox
    std::size_t receive_end;  ///< end of the next message from the peer, in this inbox
    std::uint64_t signal_sent = 0;
    pool_block staging{};  ///< source of messages too long for inline; made at first use
    pool_block endings{};  ///< trailers for payloads in shared staging; made at first use
  };

  /// A payload for several peers, which must not change during its lifetime: staged at most once.
  class shared_payload {
   public:
    explicit shared_payload(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
    shared_payload(const shared_payload&) = delete;
    shared_payload& operator=(const shared_payload&) = delete;
    ~shared_payload() {
      if (staged_ != nullptr) [[unlikely]]
        end();
    }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

   private:
    friend class rdma_mailbox;
    void end() const noexcept;

    std::span<const std::byte> bytes_;
    shared_place* staged_ = nullptr;
    bool is_in_short_ = false;
    /// Holds a short message at its end, with room for the trailer after it.
    alignas(16) std::array<std::byte, short_message_bytes> short_;
  };

  struct statistics {
    std::uint64_t staged_copies = 0;  ///< payloads copied into registered memory before sending
    std::uint64_t staged_bytes = 0;
  };

  /// Settings: `block_bytes`, `blocks`. `links` must outlive this.
  rdma_mailbox(connections& links, const config& settings);
  ~rdma_mailbox();

  /// What it requires of connections.
  static connection_options needs(bool copies, const config& settings, int ranks) noexcept;

  /// Largest payload of one message in bytes.
  [[nodiscard]] std::size_t block_bytes() const noexcept { return layout_.payload_bytes(); }
  bool try_signal(int to, call_id now);
  bool try_signalled(int from, call_id now);
  bool try_send(int to, call_id now, std::span<const std::byte> bytes) {
    return send(to, now, bytes, nullptr);
  }
  bool try_send(int to, call_id now, shared_payload& payload) {
    return send(to, now, payload.bytes_, &payload);
  }
  bool try_receive(int from, call_id now, std::span<const std::byte>& message);
  [[nodiscard]] sender* sender_of(int peer) const noexcept { return senders_.find(peer); }
  [[nodiscard]] const statistics& figures() const noexcept { return statistics_; }
  /// Number of acknowledgements of released blocks, each an RDMA write.
  [[nodiscard]] std::uint64_t notifications() const noexcept { return credits_.notifications(); }
  // As in `answering_transport`.
  void will_answer(int from) noexcept {
    if (sender* s = senders_.find(from)) credits::will_answer(s->account);
  }
  [[nodiscard]] std::uint64_t sent_to(int to) const noexcept {
    const sender* s = senders_.find(to);
    return s == nullptr ? 0 : s->account.sent;
  }
  void answered_by(int to, std::uint64_t messages) noexcept {
    if (sender* s = senders_.find(to)) credits::answered(s->account, messages);
  }
  /// Releases the oldest received message of the sender.
  void release(sender* from) noexcept { credits_.release(from->account); }

  // The interface for connections and the endpoint.
  void on_accepted(connection& c) { known(c.peer); }
  void on_written(connection& from, std::uint32_t count);
  void on_message(connection& from, std::uint64_t index, const ibv_wc&) { from.by->receives.post(index); }
  void on_closed(connection& c) noexcept;
  void on_progress() noexcept { credits_.on_progress(); }
  void count(int peer, ledger& l) const noexcept;
  void describe(memory_report& m) const;

 private:
  /// The sender if messages can be sent to it; otherwise advances connecting.
  [[nodiscard]] sender* ready(int peer) {
    sender* s = senders_.find(peer);
    if (s != nullptr && s->account.link->ready) [[likely]]
      return s;
    return links_->connect(peer) ? &known(peer) : nullptr;
  }
  sender& known(int peer) {
    return senders_.get(peer, credits::account{&links_->get(peer)}, layout_.block_end(0),
                        layout_.block_end(0));
  }
  bool send(int to, call_id now, std::span<const std::byte> bytes, shared_payload* shared);
  /// For messages that are not short, or that are longer than the device takes inline.
  void post_long(sender& s, const mailbox_trailer& trailer, std::span<const std::byte> bytes,
                 shared_payload* shared, bool is_polled);
  /// The payload in the shared staging of that lane; null if there is no room now.
  [[nodiscard]] shared_place* stage(shared_payload& payload, const lane& by);
  [[gnu::cold]] void report_overrun(int from) const;

  connections* links_;
  mailbox_layout layout_;
  credits credits_;
  std::unique_ptr<shared_staging> shared_;
  std::unique_ptr<shared_staging> shared_near_;  ///< of the second lane; null without
  per_peer<sender> senders_;
  statistics statistics_;
};

inline bool rdma_mailbox::try_signalled(int from, call_id now) {
  const sender* s = senders_.find(from);
  if (s == nullptr) return false;
  const connection& c = *s->account.link;
  const std::uint64_t seen = load_acquire(c.words + mailbox_layout::signal_offset);
  const std::uint64_t wanted = signal_word(now);
  if (!reached(seen, wanted)) {
    links_->poll_announcements();
    return false;
  }
  if (seen != wanted && contradicts(seen, wanted)) [[unlikely]] {
    links_->owner().inquiry().mismatch(from, now);
    return false;
  }
  // A message that arrived before the signal and that no call has received.
  if (c.inbox.data == nullptr) return true;
  const std::byte* end = c.inbox.data + s->receive_end;
  if (!has_arrived(load_acquire(end - sizeof(std::uint64_t)), s->account.received)) [[likely]]
    return true;
  mailbox_trailer trailer;
  std::memcpy(&trailer, end - sizeof trailer, sizeof trailer);
  if (!is_left_over(trailer.call, now)) return true;
  links_->owner().inquiry().mismatch(from, now, trailer.call);
  return false;
}

inline bool rdma_mailbox::try_signal(int to, call_id now) {
  sender* s = ready(to);
  if (s == nullptr || !links_->has_room(*s->account.link)) return false;
  s->signal_sent = signal_word(now);
  links_->post_word(*s->account.link, mailbox_layout::signal_offset, s->signal_sent);
  return true;
}

inline bool rdma_mailbox::try_receive(int from, call_id now, std::span<const std::byte>& message) {
  sender* s = senders_.find(from);
  if (s == nullptr || s->account.link->inbox.data == nullptr) return false;
  const std::byte* const blocks = s->account.link->inbox.data;
  const std::byte* const end = blocks + s->receive_end;
  const std::uint64_t counter = load_acquire(end - sizeof(std::uint64_t));
  if (!has_arrived(counter, s->account.received)) {
    if (is_overrun(counter, s->account.received, layout_.blocks())) [[unlikely]]
      report_overrun(from);
    links_->poll_announcements();
    return false;
  }
  mailbox_trailer trailer;
  std::memcpy(&trailer, end - sizeof trailer, sizeof trailer);
  if (trailer.call != static_cast<std::uint32_t>(now.number) || trailer.signature != now.signature ||
      trailer.bytes > layout_.payload_bytes()) [[unlikely]] {
    links_->owner().inquiry().mismatch(from, now, trailer.call);
    return false;
  }
  message = {end - sizeof trailer - padded(trailer.bytes), trailer.bytes};
  ++s->account.received;
  s->receive_end = layout_.end_after(s->receive_end);
  // A peer that is ahead may have written the next message already: prefetch its line meanwhile.
  __builtin_prefetch(blocks + s->receive_end - cache_line_bytes);
  return true;
}

}  // namespace chorale::transport
