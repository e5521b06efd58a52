// Mailbox over reliable connections by RDMA write, polled in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <chorale/transport/connected.hpp>
#include <chorale/transport/mailbox_calls.hpp>

namespace chorale::transport {

/// The mailbox of reliable connections, by attempts which return false as long as they have to wait.
class rc_mailbox : public connected {
 protected:
  explicit rc_mailbox(joined_group&& group);

  bool try_signal(int to, epoch now);
  bool try_signalled(int from, epoch now);
  bool try_send(int to, epoch now, std::span<const std::byte> bytes);
  bool try_receive(int from, epoch now, std::span<const std::byte>& message);
  [[nodiscard]] const mailbox_layout& layout() const noexcept { return layout_; }

 private:
  static options options_for(int ranks, const config& settings);

  mailbox_layout layout_;
};

/// Messages are RDMA writes into blocks of the receiver, data and counter in one write, bottom-filled (P2
/// section 4.1.3); a signal is an RDMA write of one word into a place of the sender's own at the receiver (P1
/// section 5.1). Neither needs the receiver's CPU, nor a receive request. Cost: one RDMA write a message, one
/// more for each half mailbox that the receiver has read.
class rc final : public rc_mailbox, public mailbox_calls<rc, connected::link*> {
 public:
  static constexpr const char* name = "rc";

  /// Collective over `group`. @throws error if there is no usable device or the ranks do not fit together.
  template <bootstrap::group G>
  rc(G& group, const config& settings) : rc(join(view_of(group, settings), plan(group.size(), settings))) {}
  explicit rc(joined_group&& group) : rc_mailbox(std::move(group)) { start_service(); }
  ~rc() override;
  [[nodiscard]] static joining_plan plan(int ranks, const config& settings) {
    return connected::plan(name, ranks, settings);
  }

  /// Largest payload of one message.
  [[nodiscard]] std::size_t block_bytes() const noexcept { return layout().payload_bytes(); }

 private:
  friend class mailbox_calls<rc, link*>;
  [[nodiscard]] link* sender(int from) const noexcept { return link_of(from); }
  void release(link* from) noexcept { give_back(*from); }
};

inline bool rc_mailbox::try_signalled(int from, epoch now) {
  const link* l = link_of(from);
  if (l == nullptr) return false;
  const std::uint64_t seen = load_acquire(l->words + mailbox_layout::signal_offset);
  const std::uint64_t wanted = signal_word(now);
  if (!reached(seen, wanted)) return false;
  if (seen != wanted && same_call(seen, wanted)) [[unlikely]] {
    mismatch(from, now);
    return false;
  }
  // A message that came before the signal and that no call has taken.
  if (l->inbox.data == nullptr) return true;
  const std::byte* end = l->inbox.data + layout_.block_end(l->received);
  if (!has_arrived(load_acquire(end - sizeof(std::uint64_t)), l->received)) [[likely]]
    return true;
  mailbox_trailer trailer;
  std::memcpy(&trailer, end - sizeof trailer, sizeof trailer);
  if (!is_left_over(trailer.call, now)) return true;
  mismatch(from, now, trailer.call);
  return false;
}

inline bool rc_mailbox::try_signal(int to, epoch now) {
  link* l = ready_link(to);
  if (l == nullptr || !has_room(*l)) return false;
  std::uint64_t word = signal_word(now);
  ibv_sge source{reinterpret_cast<std::uintptr_t>(&word), sizeof word, 0};
  ibv_send_wr request;
  request.next = nullptr;
  request.sg_list = &source;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = IBV_SEND_INLINE;
  request.wr.rdma.remote_addr = l->remote_inbox + mailbox_layout::signal_offset;
  request.wr.rdma.rkey = l->remote_inbox_key;
  post(*l, request);
  l->signal_sent = word;
  return true;
}

inline bool rc_mailbox::try_receive(int from, epoch now, std::span<const std::byte>& message) {
  link* l = link_of(from);
  if (l == nullptr || l->inbox.data == nullptr) return false;
  const std::byte* end = l->inbox.data + layout_.block_end(l->received);
  const std::uint64_t counter = load_acquire(end - sizeof(std::uint64_t));
  if (!has_arrived(counter, l->received)) return false;
  mailbox_trailer trailer;
  std::memcpy(&trailer, end - sizeof trailer, sizeof trailer);
  if (trailer.call != static_cast<std::uint32_t>(now.number) || trailer.signature != now.signature ||
      trailer.bytes > layout_.payload_bytes()) [[unlikely]] {
    mismatch(from, now, trailer.call);
    return false;
  }
  message = {end - sizeof trailer - padded(trailer.bytes), trailer.bytes};
  ++l->received;
  return true;
}

}  // namespace chorale::transport

static_assert(chorale::multicast_transport<chorale::transport::rc>);
static_assert(chorale::window_transport<chorale::transport::rc>);
