// Messages of the send/receive transport: staged, sent, matched by sender and order.
#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include <chorale/transport/rc_send_receive.hpp>

namespace chorale::transport {
namespace {

constexpr std::uint32_t fewest_receives = 64;
constexpr std::uint32_t most_receives = 512;
/// Beside the messages that a peer may have under way here: signals, and notices of puts.
constexpr std::uint32_t other_receives = 4;
/// As much as message passing libraries send inline: a cache line or two.
constexpr std::uint32_t inline_wanted = 128;

std::uint32_t receives_for(int ranks, const config& settings) {
  const auto peers = static_cast<std::uint64_t>(ranks - 1);
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(peers * (settings.blocks + other_receives), fewest_receives, most_receives));
}

}  // namespace

rc_send_receive::rc_send_receive(joined_group&& group)
    : connected(std::move(group), {.inbox_bytes = mailbox_layout::blocks_offset,
                                   .receive_bytes = group.settings.block_bytes,
                                   .receives = receives_for(group.size(), group.settings),
                                   .inline_bytes = inline_wanted}),
      queues_(static_cast<std::size_t>(size())) {
  start_service();
}

rc_send_receive::~rc_send_receive() {
  close();
}

bool rc_send_receive::try_signal(int to, epoch now) {
  link* l = ready_link(to);
  if (l == nullptr || !has_room(*l)) return false;
  message_header header{kind::signal, static_cast<std::uint32_t>(now.number), signal_word(now)};
  ibv_sge source{reinterpret_cast<std::uintptr_t>(&header), sizeof header, 0};
  ibv_send_wr request{};
  request.sg_list = &source;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_INLINE;
  post(*l, request);
  l->signal_sent = header.word;
  return true;
}

bool rc_send_receive::try_signalled(int from, epoch now) {
  const link* l = link_of(from);
  const std::uint64_t wanted = signal_word(now);
  const auto seen = [&] { return l == nullptr ? 0 : load_acquire(l->words + mailbox_layout::signal_offset); };
  if (!reached(seen(), wanted)) {
    reap();
    if (!reached(seen(), wanted)) return false;
  }
  if (seen() != wanted && same_call(seen(), wanted)) {
    mismatch(from, now);
    return false;
  }
  // A message that came before the signal and that no call has taken.
  const queue& waiting = queues_[static_cast<std::size_t>(from)];
  if (l == nullptr || waiting.arrived == l->received) return true;
  const std::uint32_t oldest = waiting.places[l->received % settings().blocks].header.call;
  if (!is_left_over(oldest, now)) return true;
  mismatch(from, now, oldest);
  return false;
}

bool rc_send_receive::try_send(int to, epoch now, std::span<const std::byte> bytes) {
  if (bytes.size() > block_bytes()) {
    throw error(errc::invalid_argument, fmt::format("send of {} bytes to rank {}: a block takes {}",
                                                    bytes.size(), to, block_bytes()));
  }
  link* l = ready_link(to);
  if (l == nullptr) return false;
  const std::uint64_t blocks = settings().blocks;
  if (l->sent - load_acquire(l->words + mailbox_layout::notification_offset) >= blocks || !has_room(*l))
    return false;

  const message_header header{kind::message, static_cast<std::uint32_t>(now.number),
                              std::uint64_t{now.signature} << 32 | bytes.size()};
  // A staging block is free again when the receiver has given the message of this block back: it had come.
  if (l->staging.data == nullptr) l->staging = pool().take(blocks * settings().block_bytes);
  std::byte* place = l->staging.data + l->sent % blocks * settings().block_bytes;
  std::memcpy(place, &header, sizeof header);
  if (!bytes.empty()) std::memcpy(place + sizeof header, bytes.data(), bytes.size());
  ibv_sge source{reinterpret_cast<std::uintptr_t>(place),
                 static_cast<std::uint32_t>(sizeof header + bytes.size()), l->staging.lkey};
  ibv_send_wr request{};
  request.sg_list = &source;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  if (source.length <= l->qp->inline_bytes()) request.send_flags = IBV_SEND_INLINE;
  post(*l, request);
  ++l->sent;
  return true;
}

bool rc_send_receive::try_receive(int from, epoch now, std::span<const std::byte>& message) {
  link* l = link_of(from);
  if (l == nullptr) return false;
  const queue& waiting = queues_[static_cast<std::size_t>(from)];
  if (waiting.arrived == l->received) {
    reap();
    if (waiting.arrived == l->received) return false;
  }
  const unexpected& next = waiting.places[l->received % settings().blocks];
  if (next.header.call != static_cast<std::uint32_t>(now.number) || next.header.word >> 32 != now.signature) {
    mismatch(from, now, next.header.call);
    return false;
  }
  message = {next.payload, static_cast<std::uint32_t>(next.header.word)};
  ++l->received;
  return true;
}

void rc_send_receive::on_message(link& from, std::uint64_t index, const ibv_wc& wc) {
  message_header header{};
  if (wc.byte_len >= sizeof header) std::memcpy(&header, receive_buffer(index), sizeof header);
  if (header.what == kind::signal) {
    std::byte* place = from.words + mailbox_layout::signal_offset;
    if (reached(header.word, load_acquire(place))) std::memcpy(place, &header.word, sizeof header.word);
  } else if (header.what == kind::message &&
             wc.byte_len == sizeof header + static_cast<std::uint32_t>(header.word)) {
    keep(from, index, header);
    return;
  } else {
    break_link(from, "it sent something that is no message");
  }
  post_receive(index);
}

void rc_send_receive::keep(link& from, std::uint64_t index, const message_header& header) {
  queue& waiting = queues_[static_cast<std::size_t>(from.peer)];
  if (waiting.arrived - from.released >= settings().blocks) {
    break_link(from, "it sent more messages than it may before they are given back");
    post_receive(index);
    return;
  }
  if (waiting.places.empty()) waiting.places.resize(settings().blocks);
  unexpected& place = waiting.places[waiting.arrived++ % settings().blocks];
  place.header = header;
  const std::byte* payload = receive_buffer(index) + sizeof header;
  if (held_ < receives() / 2) {
    ++held_;
    place.receive = index;
    place.payload = payload;
    return;
  }
  const auto bytes = static_cast<std::uint32_t>(header.word);
  place.copy = std::make_unique<std::byte[]>(bytes + std::size_t{1});
  std::memcpy(place.copy.get(), payload, bytes);
  place.payload = place.copy.get();
  ++copied_out_;
  post_receive(index);
}

void rc_send_receive::release(link* from) noexcept {
  unexpected& done = queues_[static_cast<std::size_t>(from->peer)].places[from->released % settings().blocks];
  if (done.copy) {
    done.copy.reset();
  } else {
    --held_;
    try {
      post_receive(done.receive);
    } catch (...) {
      // A receive queue that refuses a block it had room for has failed, and with it every wait.
    }
  }
  give_back(*from);
}

}  // namespace chorale::transport
