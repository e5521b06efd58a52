// Streams: what they are made of, sending, and the mailbox.
#include <algorithm>
#include <mutex>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "../messages.hpp"
#include "stream.hpp"

namespace chorale::transport::reliable {
namespace {

/// Packets that are kept, sent or received, in all streams together.
constexpr std::size_t most_packets = 1024;
/// Buffers for datagrams, however many peers there are.
constexpr std::uint32_t fewest_receives = 256;
constexpr std::uint32_t most_receives = 1024;
/// A window of this many packets for each peer, where the buffers suffice for all.
constexpr std::uint32_t best_window = 32;
constexpr std::uint32_t least_window = 4;

constexpr std::chrono::microseconds least_timeout{500};
/// Where ranks share cores, a peer answers only when it has one.
constexpr std::chrono::milliseconds least_timeout_oversubscribed{2};

std::uint32_t peers_of(int ranks) noexcept {
  return static_cast<std::uint32_t>(std::max(ranks - 1, 1));
}

}  // namespace

std::uint32_t streams::receives_for(int ranks) noexcept {
  return std::clamp(2 * best_window * peers_of(ranks), fewest_receives, most_receives);
}

streams::streams(endpoint& owner)
    : owner_(&owner),
      room_(owner.channel().room()),
      block_bytes_(std::min(owner.settings().block_bytes, (room_ - sizeof(packet_header)) / 16 * 16)),
      blocks_(owner.settings().blocks),
      pool_((room_ + 63) / 64 * 64, most_packets),
      exposures_(owner.job()) {
  const int ranks = owner.size();
  const auto window = std::clamp(receives_for(ranks) / (2 * peers_of(ranks)), least_window, best_window);
  const steady::duration least = owner.oversubscribed() ? steady::duration{least_timeout_oversubscribed}
                                                        : steady::duration{least_timeout};
  for (int r = 0; r < ranks; ++r) streams_.push_back(std::make_unique<stream>(r, pool_, window, least));
  datagrams_ = owner.channel().subscribe(
      static_cast<std::uint16_t>(stream_kind::packet), static_cast<std::uint16_t>(stream_kind::question),
      control_channel::reader::any,
      {[this](int from, std::uint16_t kind, std::span<const std::byte> body) {
         on_datagram(from, kind, body);
       },
       [this] { progress(); }});
}

streams::~streams() = default;

streams::stream& streams::checked(int peer, const char* what) const {
  if (peer < 0 || peer >= owner_->size() || peer == owner_->rank())
    throw error(errc::invalid_argument,
                fmt::format("rank {} cannot {} rank {} of {}", owner_->rank(), what, peer, owner_->size()));
  return at(peer);
}

void streams::require_sound(stream& s) const {
  if (!s.broken.empty()) [[unlikely]]
    owner_->failures().lose(s.peer, s.broken);
}

bool streams::has_room(stream& s) const noexcept {
  // Who has nothing under way may always send: no stream waits for the blocks of another for ever.
  return s.out.outstanding() == 0 || (s.out.outstanding() < s.allowance.packets() && pool_.has_room());
}

bool streams::transmit(stream& s, sequence number, bool first_time) {
  send_window::entry& e = s.out.at(number);
  packet_header head;
  std::memcpy(&head, e.block, sizeof head);
  head.acknowledged = s.in.expected();
  head.released = static_cast<std::uint32_t>(s.released);
  const bool asks = (head.flags & wants_report) != 0;
  if (first_time && !asks &&
      static_cast<std::uint32_t>(distance(s.asked_at, number)) + 1 >= (s.allowance.packets() + 1) / 2 &&
      static_cast<std::uint32_t>(distance(s.out.oldest(), number)) + 1 >= (s.allowance.packets() + 1) / 2)
    head.flags |= wants_report;
  if (s.has_refused) head.flags |= has_refused;
  std::memcpy(e.block, &head, sizeof head);
  // A read's request and its answers concern a rank that may be anywhere.
  const auto type = static_cast<packet_type>(head.type);
  const bool solicited = type == packet_type::read_request || type == packet_type::atomic_request;
  if (!owner_->channel().send(s.peer, static_cast<std::uint16_t>(stream_kind::packet), {e.block, e.bytes}, {},
                              solicited))
    return false;
  e.sent_at = steady::now();
  s.told = s.released;
  if (first_time && (head.flags & wants_report) != 0) {
    s.asked_at = number;
    s.asked_when = e.sent_at;
  }
  if (!first_time) {
    s.asked_when = {};
    ++counts_.resent;
  }
  return true;
}

void streams::pump(stream& s) {
  while (s.out.unsent() != s.out.next()) {
    if (!transmit(s, s.out.unsent(), true)) return lag(s);
    s.out.mark_sent();
  }
}

bool streams::send_signal(stream& s, std::uint64_t word, sequence after) {
  const signal_body b{word, after, s.in.expected(), static_cast<std::uint32_t>(s.released),
                      s.has_refused ? 1U : 0U};
  if (!owner_->channel().send(s.peer, static_cast<std::uint16_t>(stream_kind::signal), wire(b))) return false;
  s.told = s.released;
  s.signal_when = steady::now();
  return true;
}

bool streams::try_signal(int to, epoch now) {
  const std::lock_guard hold{owner_->channel().lock()};
  stream& s = checked(to, "signal");
  require_sound(s);
  pump(s);
  const std::uint64_t word = signal_word(now);
  const sequence after = s.out.next();
  if (!send_signal(s, word, after)) return false;
  s.signal_sent = word;
  s.signal_after = after;
  s.signal_confirmed = false;
  ++counts_.signals;
  return true;
}

bool streams::try_signalled(int from, epoch now) {
  const std::lock_guard hold{owner_->channel().lock()};
  stream& s = checked(from, "await a signal of");
  const std::uint64_t wanted = signal_word(now);
  if (!reached(s.signal(), wanted)) {
    owner_->channel().read();
    if (!reached(s.signal(), wanted)) {
      waits(s);
      return false;
    }
  }
  waited(s);
  if (s.signal_seen != wanted && same_call(s.signal_seen, wanted)) [[unlikely]] {
    owner_->inquiry().mismatch(from, now);
    return false;
  }
  // A message that came before the signal and that no call has taken.
  if (s.handed_out == s.messages.size() || !is_left_over(s.messages[s.handed_out].call, now)) return true;
  owner_->inquiry().mismatch(from, now, s.messages[s.handed_out].call);
  return false;
}

bool streams::try_send(int to, epoch now, std::span<const std::byte> bytes) {
  if (bytes.size() > block_bytes_) {
    throw error(errc::invalid_argument,
                fmt::format("send of {} bytes to rank {}: a block takes {}", bytes.size(), to, block_bytes_));
  }
  const std::lock_guard hold{owner_->channel().lock()};
  stream& s = checked(to, "send to");
  require_sound(s);
  const auto may_send = [&] { return s.sent - s.given_back < blocks_ && has_room(s); };
  if (!may_send()) {
    owner_->channel().read();
    if (!may_send()) {
      press(s);
      return false;
    }
  }
  s.next_question = {};
  push(s, packet_type::message, 0, now, std::monostate{}, bytes);
  ++s.sent;
  return true;
}

bool streams::try_receive(int from, epoch now, std::span<const std::byte>& message) {
  const std::lock_guard hold{owner_->channel().lock()};
  stream& s = checked(from, "receive from");
  if (s.handed_out == s.messages.size()) {
    owner_->channel().read();
    if (s.handed_out == s.messages.size()) {
      waits(s);
      return false;
    }
  }
  waited(s);
  const stream::message& m = s.messages[s.handed_out];
  if (m.call != static_cast<std::uint32_t>(now.number) || m.signature != now.signature) [[unlikely]] {
    owner_->inquiry().mismatch(from, now, m.call);
    return false;
  }
  message = {m.block, m.bytes};
  ++s.handed_out;
  return true;
}

void streams::release(int from) noexcept {
  const std::lock_guard hold{owner_->channel().lock()};
  stream& s = at(from);
  pool_.give_back(s.messages.front().block);
  s.messages.pop_front();
  --s.handed_out;
  ++s.released;
  try {
    if (s.in.kept_one() != nullptr) deliver_kept(s);
    if (s.released - s.told >= std::max(blocks_ / 2, 1U))
      report(s, resend::nothing, false, counts_.acknowledgements);
  } catch (...) {
    // A broken queue pair shows at the next send.
  }
}

bool streams::try_tell(int to, packet_type what) {
  const std::lock_guard hold{owner_->channel().lock()};
  stream& s = checked(to, "speak to");
  if (!has_room(s)) {
    press(s);
    return false;
  }
  s.next_question = {};
  push(s, what, what == packet_type::departure ? wants_report : std::uint8_t{0}, {}, std::monostate{}, {});
  return true;
}

std::vector<streams::path_news> streams::take_path_news() {
  const std::lock_guard hold{owner_->channel().lock()};
  return std::exchange(path_news_, {});
}

bool streams::has_departed(int from) const noexcept {
  const std::lock_guard hold{owner_->channel().lock()};
  return at(from).departed;
}

bool streams::try_drain(int peer) {
  const std::lock_guard hold{owner_->channel().lock()};
  stream& s = checked(peer, "drain the stream to");
  if (s.out.outstanding() == 0) return true;
  owner_->channel().read();
  if (s.out.outstanding() != 0) press(s);
  return s.out.outstanding() == 0;
}

bool streams::has_no_more_messages(int from) const noexcept {
  const std::lock_guard hold{owner_->channel().lock()};
  const stream& s = at(from);
  return s.departed && s.handed_out == s.messages.size();
}

bool streams::has_no_more_notices(int from) const noexcept {
  const std::lock_guard hold{owner_->channel().lock()};
  const stream& s = at(from);
  return s.departed && s.notices.empty();
}

stream_statistics streams::statistics() const {
  const std::lock_guard hold{owner_->channel().lock()};
  return counts_;
}

std::size_t streams::memory_bytes() const {
  const std::lock_guard hold{owner_->channel().lock()};
  return pool_.memory_bytes();
}

std::size_t streams::exposed_bytes() const {
  const std::lock_guard hold{owner_->channel().lock()};
  return exposures_.bytes();
}

}  // namespace chorale::transport::reliable
