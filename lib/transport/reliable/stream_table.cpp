// SPDX-License-Identifier: Apache-2.0
#include "stream_table.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <chorale/core/cache_lines.hpp>
#include <chorale/transport/wire/mailbox.hpp>

namespace chorale::transport::reliable {
namespace {

/// Bounds on the number of datagram buffers, whatever the number of peers.
constexpr std::uint32_t fewest_receives = 256;
constexpr std::uint32_t most_receives = 1024;
/// Packets in the window of each peer, if the buffers suffice for all.
constexpr std::uint32_t best_window = 32;
constexpr std::uint32_t least_window = 4;

std::uint32_t peers_of(int ranks) noexcept {
  return static_cast<std::uint32_t>(std::max(ranks - 1, 1));
}

std::uint32_t window_of(int ranks) noexcept {
  return std::clamp(stream_table::receives_for(ranks) / (2 * peers_of(ranks)), least_window, best_window);
}

}  // namespace

std::uint32_t stream_table::receives_for(int ranks) noexcept {
  return std::clamp(2 * best_window * peers_of(ranks), fewest_receives, most_receives);
}

stream_table::stream_table(packet_port& port, const options& o)
    : blocks_(o.blocks),
      window_(window_of(o.ranks)),
      least_timeout_(o.least_timeout),
      all_{port, *this, packet_pool{in_cache_lines(o.packet_bytes), o.most_packets}},
      unused_(-1, all_, window_, least_timeout_),
      streams_(o.ranks),
      store_(all_.pool, o.ranks, o.block_bytes, o.blocks),
      server_(o.secret, o.ranks, o.packet_bytes, all_.counts),
      client_(o.ranks, o.packet_bytes),
      departed_(static_cast<std::size_t>(o.ranks)) {}

stream& stream_table::make(int peer) {
  return streams_.get(peer, peer, all_, window_, least_timeout_);
}

void stream_table::on_datagram(int from, std::uint16_t kind, std::span<const std::byte> body,
                               const lazy_time& now) {
  stream& s = at(from);
  switch (static_cast<stream_kind>(kind)) {
    case stream_kind::packet:
      if (const auto p = read_packet(body)) return s.on_packet(body, *p, now);
      break;
    case stream_kind::signal:
      if (const auto b = parse<signal_body>(body)) return s.on_signal(*b, now);
      break;
    case stream_kind::report:
      if (const auto b = parse<report_body>(body)) return s.on_report(*b, now);
      break;
    case stream_kind::question:
      if (const auto b = parse<question_body>(body)) return s.on_question(*b);
      break;
  }
  all_.port.refuse();
}

void stream_table::on_farewell(int from, std::span<const std::byte> body, const lazy_time& now) {
  const auto b = parse<report_body>(body);
  stream* const s = streams_.find(from);
  if (b && s != nullptr) s->take_state(*b, now);
}

bool stream_table::deliver(stream& from, const packet& p, const lazy_time& now) {
  const int peer = from.peer();
  const auto type = static_cast<packet_type>(p.header.type);
  switch (type) {
    case packet_type::message:
      switch (store_.put(peer, p, from.is_awaited())) {
        case message_store::outcome::no_room:
          return false;
        case message_store::outcome::unexpected:
          // It is discarded, and the stream continues.
          all_.port.refuse();
          break;
        case message_store::outcome::kept:
          break;
      }
      break;
    case packet_type::put:
      if (server_.on_put(from, std::get<put_body>(p.body), p.payload, now) &&
          (p.header.flags & is_notified) != 0)
        client_.on_notice(peer, {p.header.call, p.header.signature});
      break;
    case packet_type::read_request:
      server_.on_read(from, std::get<read_body>(p.body), now);
      break;
    case packet_type::read_reply:
      client_.on_reply(peer, std::get<reply_body>(p.body), p.payload);
      break;
    case packet_type::atomic_request:
      server_.on_atomic(from, std::get<atomic_body>(p.body), now);
      break;
    case packet_type::atomic_reply:
      client_.on_atomic_reply(peer, std::get<atomic_reply_body>(p.body));
      break;
    case packet_type::refusal:
      client_.on_refusal(from, std::get<refusal_body>(p.body));
      break;
    default: {
      const auto mark = static_cast<path_mark>(type);
      if (mark == path_mark::departure)
        departed_[static_cast<std::size_t>(peer)] = true;
      else
        marks_.push_back({peer, mark});
      break;
    }
  }
  return true;
}

void stream_table::on_arrival(stream& to, const lazy_time& now) {
  client_.on_arrival(to);
  if (server_.owes_replies(to.peer())) server_.send_replies(to, now);
}

void stream_table::send(int to, call_id call, std::span<const std::byte> bytes, clock::time_point now) {
  stream& s = at(to);
  s.end_report_requests();
  s.push(packet_type::message, 0, call, std::monostate{}, bytes, now);
  s.credits().on_sent();
}

finding stream_table::take_message(int from, call_id call, std::span<const std::byte>& message) {
  const auto& m = store_.next(from);
  end_await(from);
  if (m.call != static_cast<std::uint32_t>(call.number) || m.signature != call.signature) [[unlikely]]
    return {presence::of_another_call, m.call};
  message = {m.block, m.bytes};
  store_.hand_out(from);
  return {presence::here};
}

bool stream_table::release(int from) {
  store_.release(from);
  stream& s = at(from);
  s.credits().on_released();
  if (s.credits().unacknowledged() >= std::max(blocks_ / 2, 1U)) s.acknowledge();
  return s.has_kept();
}

finding stream_table::take_signal(int from, call_id call, std::uint64_t seen) {
  const std::uint64_t wanted = signal_word(call);
  end_await(from);
  if (contradicts(seen, wanted)) [[unlikely]]
    return {presence::of_another_call, static_cast<std::uint32_t>(call.number)};
  // A message that arrived before the signal and that no call has received.
  if (store_.has_next(from) && is_left_over(store_.next(from).call, call)) [[unlikely]]
    return {presence::of_another_call, store_.next(from).call};
  return {presence::here};
}

void stream_table::withdraw() noexcept {
  server_.exposed().clear();
  client_.withdraw();
}

finding stream_table::take_notice(int from, call_id call) {
  const auto* n = client_.next_notice(from);
  end_await(from);
  if (n->call != static_cast<std::uint32_t>(call.number) || n->signature != call.signature) [[unlikely]]
    return {presence::of_another_call, static_cast<std::uint32_t>(call.number)};
  client_.take_notice(from);
  return {presence::here};
}

void stream_table::tell(int to, path_mark what, clock::time_point now) {
  stream& s = at(to);
  s.end_report_requests();
  const std::uint8_t flags = what == path_mark::departure ? wants_report : std::uint8_t{0};
  s.push(static_cast<packet_type>(what), flags, {}, std::monostate{}, {}, now);
}

std::vector<received_path_mark> stream_table::take_marks() noexcept {
  return std::exchange(marks_, {});
}

void stream_table::await_answer(int from, clock::time_point now) {
  // Either the request or the answer may have been lost.
  if (!at(from).is_drained()) request_report(from, now);
  at(from).await(now);
}

void stream_table::request_report(int to, clock::time_point now) {
  at(to).request_report(now);
  if (all_.pool.has_room()) return;
  // Other streams hold the blocks: ask their peers, too.
  streams_.each([&](stream& other) {
    if (other.peer() != to && !other.is_drained()) other.request_report(now);
  });
}

void stream_table::progress(clock::time_point now) {
  for (const int peer : std::exchange(all_.lagging, {})) {
    stream& s = at(peer);
    s.stop_lagging();
    s.send_waiting(now);
    if (!server_.owes_replies(peer)) continue;
    server_.send_replies(s, now);
    // No other wait asks for the room that a reply needs.
    if (server_.owes_replies(peer)) request_report(peer, now);
  }
}

stream_statistics stream_table::statistics() const noexcept {
  stream_statistics s = all_.counts;
  s.most_buffered = store_.most_at_once();
  return s;
}

}  // namespace chorale::transport::reliable
