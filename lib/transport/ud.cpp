#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <chorale/transport/ud.hpp>
#include <chorale/verbs/address.hpp>

#include "messages.hpp"

namespace chorale::transport {
namespace {

enum class ud_kind : std::uint16_t {
  signal = static_cast<std::uint16_t>(datagram_kind::first_of_transport),  ///< a signal word
  message,       ///< a mailbox_trailer, then the payload
  notification,  ///< 8 bytes: messages of the receiver that the sender has given back
};
constexpr auto raw(ud_kind kind) {
  return static_cast<std::uint16_t>(kind);
}

/// The endpoint lowers it to the path MTU.
constexpr std::size_t largest_datagram = 4096;
/// A datagram that others have overtaken for that long is lost.
constexpr auto overtaking_time = std::chrono::milliseconds{500};

}  // namespace

mailbox_layout ud::layout_for(const config& settings, int mtu) {
  const std::size_t room = static_cast<std::size_t>(mtu) - sizeof(datagram_header);
  return {std::min(settings.block_bytes, room / 64 * 64), settings.blocks};
}

ud::ud(const group_view& group, const config& settings)
    : endpoint(group, settings, name,
               {.payload_bytes = largest_datagram,
                // A window of messages of each peer, and what it may send beside: a signal a call and one
                // ahead, notifications, questions and answers.
                .receives = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
                    std::uint64_t{settings.blocks + 8} * static_cast<std::uint64_t>(group.size), 256, 16384)),
                .sends = 128}),
      layout_(layout_for(settings, chosen().mtu_bytes)) {
  streams_.resize(static_cast<std::size_t>(size()));
}

ud::~ud() {
  say_goodbye();
}

bool ud::try_signal(int to, epoch now) {
  if (to < 0 || to >= size() || to == rank())
    throw error(errc::invalid_argument,
                fmt::format("rank {} cannot signal rank {} of {}", rank(), to, size()));
  const std::uint64_t word = signal_word(now);
  return send_datagram(to, raw(ud_kind::signal), std::as_bytes(std::span{&word, 1}));
}

bool ud::try_signalled(int from, epoch now) {
  stream& s = streams_[static_cast<std::size_t>(from)];
  const std::uint64_t wanted = signal_word(now);
  if (!reached(s.signal, wanted)) {
    read_datagrams();
    if (!reached(s.signal, wanted)) return false;
  }
  if (s.signal != wanted && same_call(s.signal, wanted)) {
    mismatch(from, now);
    return false;
  }
  return true;
}

bool ud::try_send(int to, epoch now, std::span<const std::byte> bytes) {
  if (to < 0 || to >= size() || to == rank())
    throw error(errc::invalid_argument,
                fmt::format("rank {} cannot send to rank {} of {}", rank(), to, size()));
  if (bytes.size() > layout_.payload_bytes()) {
    throw error(errc::invalid_argument, fmt::format("send of {} bytes to rank {}: a block takes {}",
                                                    bytes.size(), to, layout_.payload_bytes()));
  }
  stream& s = streams_[static_cast<std::size_t>(to)];
  if (s.sent - s.acknowledged >= layout_.blocks) {
    read_datagrams();
    if (s.sent - s.acknowledged >= layout_.blocks) return false;
  }
  const mailbox_trailer t{.bytes = static_cast<std::uint32_t>(bytes.size()),
                          .signature = now.signature,
                          .call = static_cast<std::uint32_t>(now.number),
                          .count = static_cast<std::uint32_t>(s.sent + 1)};
  if (!send_datagram(to, raw(ud_kind::message), std::as_bytes(std::span{&t, 1}), bytes)) return false;
  ++s.sent;
  return true;
}

bool ud::try_receive(int from, epoch now, std::span<const std::byte>& message) {
  stream& s = streams_[static_cast<std::size_t>(from)];
  if (s.arrived == s.received) {
    read_datagrams();
    if (s.arrived == s.received) {
      if (s.gap_since != steady::time_point{} && steady::now() - s.gap_since > overtaking_time) {
        throw error(
            errc::completion_failed,
            fmt::format(
                "rank {} lost a datagram of rank {}: transport::ud does not send again; use transport::rc "
                "on a fabric that loses packets",
                rank(), from),
            {from});
      }
      return false;
    }
  }
  const std::byte* end = s.ring.data() + layout_.block_end(s.received);
  mailbox_trailer t;
  std::memcpy(&t, end - sizeof t, sizeof t);
  if (t.call != static_cast<std::uint32_t>(now.number) || t.signature != now.signature) {
    mismatch(from, now);
    return false;
  }
  message = {end - sizeof t - padded(t.bytes), t.bytes};
  ++s.received;
  return true;
}

void ud::store(stream& s, std::span<const std::byte> body) {
  mailbox_trailer t;
  if (body.size() < sizeof t) return;
  std::memcpy(&t, body.data(), sizeof t);
  const auto payload = body.subspan(sizeof t);
  if (payload.size() != t.bytes || t.bytes > layout_.payload_bytes()) return;
  // Older ones are duplicates; newer ones have overtaken what is still to come, within the window.
  const auto ahead = static_cast<std::int32_t>(t.count - static_cast<std::uint32_t>(s.arrived + 1));
  if (ahead < 0 || s.arrived + static_cast<std::uint32_t>(ahead) - s.released >= layout_.blocks) return;
  if (s.ring.empty()) s.ring.resize(layout_.total_bytes());
  std::byte* end = s.ring.data() + layout_.block_end(s.arrived + static_cast<std::uint32_t>(ahead));
  if (!payload.empty()) std::memcpy(end - sizeof t - padded(t.bytes), payload.data(), payload.size());
  std::memcpy(end - sizeof t, &t, sizeof t);
  if (ahead != 0) {
    if (s.gap_since == steady::time_point{}) s.gap_since = steady::now();
    return;
  }
  s.gap_since = {};
  do {
    ++s.arrived;
    std::memcpy(&t, s.ring.data() + layout_.block_end(s.arrived) - sizeof t, sizeof t);
  } while (s.arrived - s.released < layout_.blocks && t.count == static_cast<std::uint32_t>(s.arrived + 1));
}

void ud::on_datagram(int from, std::uint16_t kind, std::span<const std::byte> body) {
  stream& s = streams_[static_cast<std::size_t>(from)];
  std::uint64_t word = 0;
  switch (static_cast<ud_kind>(kind)) {
    case ud_kind::signal:
      if (body.size() != sizeof word) return;
      std::memcpy(&word, body.data(), sizeof word);
      if (reached(word, s.signal)) s.signal = word;
      return;
    case ud_kind::message:
      store(s, body);
      return;
    case ud_kind::notification:
      if (body.size() != sizeof word) return;
      std::memcpy(&word, body.data(), sizeof word);
      if (word > s.acknowledged && word <= s.sent) s.acknowledged = word;
      return;
  }
}

void ud::release(int from) noexcept {
  stream& s = streams_[static_cast<std::size_t>(from)];
  ++s.released;
  if (s.released - s.notified >= layout_.blocks / 2) notify(from);
}

void ud::notify(int from) noexcept {
  stream& s = streams_[static_cast<std::size_t>(from)];
  const std::uint64_t count = s.released;
  try {
    if (send_datagram(from, raw(ud_kind::notification), std::as_bytes(std::span{&count, 1}))) {
      s.notified = count;
      return;
    }
  } catch (...) {
    // A broken queue pair shows at the next send.
  }
  notifications_due_.push_back(from);
}

void ud::on_progress() {
  const auto due = std::exchange(notifications_due_, {});
  for (const int from : due) notify(from);
}

}  // namespace chorale::transport
