#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <chorale/transport/connections/matched.hpp>

namespace chorale::transport {
namespace {

constexpr std::uint32_t fewest_receives = 64;
constexpr std::uint32_t most_receives = 512;
/// Beside the messages that a peer may have under way here: signals, and notices of puts.
constexpr std::uint32_t other_receives = 4;
/// As much as message passing libraries send inline: a cache line or two.
constexpr std::uint32_t inline_wanted = 128;

}  // namespace

connections::options matched::needs(const config& settings, int ranks) noexcept {
  const auto receives = static_cast<std::uint64_t>(ranks - 1) * (settings.blocks + other_receives);
  return {.limit = settings.connections,
          .inbox_bytes = mailbox_layout::blocks_offset,
          .receive_bytes = settings.block_bytes,
          .receives =
              static_cast<std::uint32_t>(std::clamp<std::uint64_t>(receives, fewest_receives, most_receives)),
          .inline_bytes = inline_wanted};
}

matched::sender* matched::ready(int peer) {
  sender* s = senders_.find(peer);
  if (s != nullptr && s->account.link->ready) return s;
  return links_->connect(peer) ? &known(peer) : nullptr;
}

bool matched::try_signal(int to, epoch now) {
  sender* s = ready(to);
  if (s == nullptr || !links_->has_room(*s->account.link)) return false;
  message_header header{kind::signal, static_cast<std::uint32_t>(now.number), signal_word(now)};
  ibv_sge source{reinterpret_cast<std::uintptr_t>(&header), sizeof header, 0};
  ibv_send_wr request{};
  request.sg_list = &source;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_INLINE;
  s->signal_sent = header.word;
  links_->post(*s->account.link, request);
  return true;
}

bool matched::try_signalled(int from, epoch now) {
  const sender* s = senders_.find(from);
  const std::uint64_t wanted = signal_word(now);
  const auto seen = [&]() -> std::uint64_t {
    return s == nullptr ? 0 : load_acquire(s->account.link->words + mailbox_layout::signal_offset);
  };
  if (!reached(seen(), wanted)) {
    links_->reap();
    s = senders_.find(from);
    if (!reached(seen(), wanted)) return false;
  }
  if (seen() != wanted && same_call(seen(), wanted)) {
    links_->owner().inquiry().mismatch(from, now);
    return false;
  }
  // A message that came before the signal and that no call has taken.
  if (s == nullptr || s->arrived == s->account.received) return true;
  const std::uint32_t oldest = s->places[s->account.received % blocks_].header.call;
  if (!is_left_over(oldest, now)) return true;
  links_->owner().inquiry().mismatch(from, now, oldest);
  return false;
}

bool matched::try_send(int to, epoch now, std::span<const std::byte> bytes) {
  if (bytes.size() > block_bytes()) {
    throw error(errc::invalid_argument, fmt::format("send of {} bytes to rank {}: a block takes {}",
                                                    bytes.size(), to, block_bytes()));
  }
  sender* s = ready(to);
  if (s == nullptr) return false;
  connection& c = *s->account.link;
  if (!credits_.has_credit(s->account) || !links_->has_room(c)) return false;

  const message_header header{kind::message, static_cast<std::uint32_t>(now.number),
                              std::uint64_t{now.signature} << 32 | bytes.size()};
  // A staging block is free again when the receiver has given the message of this block back: it had come.
  if (s->staging.data == nullptr) s->staging = links_->pool().take(blocks_ * block_size_);
  std::byte* place = s->staging.data + s->account.sent % blocks_ * block_size_;
  std::memcpy(place, &header, sizeof header);
  if (!bytes.empty()) std::memcpy(place + sizeof header, bytes.data(), bytes.size());
  ibv_sge source{reinterpret_cast<std::uintptr_t>(place),
                 static_cast<std::uint32_t>(sizeof header + bytes.size()), s->staging.lkey};
  ibv_send_wr request{};
  request.sg_list = &source;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  if (source.length <= c.qp->inline_bytes()) request.send_flags = IBV_SEND_INLINE;
  links_->post(c, request);
  ++s->account.sent;
  return true;
}

bool matched::try_receive(int from, epoch now, std::span<const std::byte>& message) {
  sender* s = senders_.find(from);
  if (s == nullptr || s->arrived == s->account.received) {
    links_->reap();
    s = senders_.find(from);
    if (s == nullptr || s->arrived == s->account.received) return false;
  }
  const unexpected& next = s->places[s->account.received % blocks_];
  if (next.header.call != static_cast<std::uint32_t>(now.number) || next.header.word >> 32 != now.signature) {
    links_->owner().inquiry().mismatch(from, now, next.header.call);
    return false;
  }
  message = {next.payload, static_cast<std::uint32_t>(next.header.word)};
  ++s->account.received;
  return true;
}

void matched::on_message(connection& from, std::uint64_t index, const ibv_wc& wc) {
  message_header header{};
  auto& receives = links_->receives();
  if (wc.byte_len >= sizeof header) std::memcpy(&header, receives.block(index), sizeof header);
  if (header.what == kind::signal) {
    std::byte* place = from.words + mailbox_layout::signal_offset;
    if (reached(header.word, load_acquire(place))) std::memcpy(place, &header.word, sizeof header.word);
    known(from.peer);
  } else if (header.what == kind::message &&
             wc.byte_len == sizeof header + static_cast<std::uint32_t>(header.word)) {
    return keep(known(from.peer), index, header);
  } else {
    links_->break_off(from, "it sent something that is no message");
  }
  receives.post(index);
}

void matched::keep(sender& from, std::uint64_t index, const message_header& header) {
  auto& receives = links_->receives();
  if (from.arrived - from.account.released >= blocks_) {
    links_->break_off(*from.account.link, "it sent more messages than it may before they are given back");
    return receives.post(index);
  }
  if (from.places.empty()) from.places.resize(blocks_);
  unexpected& place = from.places[from.arrived++ % blocks_];
  place.header = header;
  const std::byte* payload = receives.block(index) + sizeof header;
  if (held_ < receives.count() / 2) {
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
  receives.post(index);
}

void matched::release(sender* from) noexcept {
  unexpected& done = from->places[from->account.released % blocks_];
  if (done.copy) {
    done.copy.reset();
  } else {
    --held_;
    try {
      links_->receives().post(done.receive);
    } catch (...) {
      // A receive queue that refuses a block it had room for has failed, and with it every wait.
    }
  }
  credits_.give_back(from->account);
}

void matched::on_closed(connection& c) noexcept {
  sender* s = senders_.find(c.peer);
  if (s == nullptr) return;
  credits_.on_closed(s->account);
  links_->pool().give_back(std::exchange(s->staging, {}));
}

void matched::count(int peer, ledger& l) const noexcept {
  const sender* s = senders_.find(peer);
  if (s == nullptr) return;
  credits::count(s->account, l);
  l.signal_sent = s->signal_sent;
}

void matched::describe(memory_report& m) const {
  std::size_t staging = 0;
  senders_.each([&](const sender& s) { staging += in_cache_lines(s.staging.bytes); });
  m.staging_bytes += staging;
  m.spare_bytes -= staging;
  m.bytes_per_peer += blocks_ * block_size_;
}

}  // namespace chorale::transport
