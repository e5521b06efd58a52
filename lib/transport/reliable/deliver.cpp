// Streams: what comes from a peer.
#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "stream.hpp"

namespace chorale::transport::reliable {
namespace {

/// Reads of one peer that wait to be answered; honest ranks wait for each other's.
constexpr std::size_t most_replies = 256;
/// Packets that overtake a missing one before it counts as lost.
constexpr int overtakers = 3;

/// A word is written as one: the rank's own thread polls counters of windows without the lock.
void place(std::byte* to, std::span<const std::byte> bytes) noexcept {
  std::uint64_t word;
  if (bytes.size() == sizeof word && reinterpret_cast<std::uintptr_t>(to) % sizeof word == 0) {
    std::memcpy(&word, bytes.data(), sizeof word);
    std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(to))
        .store(word, std::memory_order_release);
  } else {
    std::memcpy(to, bytes.data(), bytes.size());
  }
}

}  // namespace

void streams::on_datagram(int from, std::uint16_t kind, std::span<const std::byte> body) {
  if (from == owner_->rank()) return owner_->channel().refuse();
  stream& s = at(from);
  const auto with = [&](const auto& read, auto&& act) {
    if (!read) return owner_->channel().refuse();
    act(*read);
  };
  switch (static_cast<stream_kind>(kind)) {
    case stream_kind::packet:
      on_packet(s, body);
      return;
    case stream_kind::signal:
      with(parse<signal_body>(body), [&](const signal_body& b) { on_signal(s, b); });
      return;
    case stream_kind::report:
      with(parse<report_body>(body), [&](const report_body& b) { on_report(s, b); });
      return;
    case stream_kind::question:
      with(parse<question_body>(body), [&](const question_body& b) { on_question(s, b); });
      return;
  }
  owner_->channel().refuse();
}

void streams::acknowledged(stream& s, std::uint32_t upto, std::uint32_t released, bool refused) {
  const std::uint32_t count = s.out.acknowledge(upto);
  if (count != 0) {
    if (s.asked_when != steady::time_point{} && distance(s.asked_at, upto) > 0) {
      s.clock.sample(steady::now() - s.asked_when);
      s.asked_when = {};
    }
    s.allowance.on_arrival(count);
    if (s.puts && distance(s.last_put, s.out.oldest()) >= 0) s.puts = false;
    s.questions = 0;
    s.next_question = {};
    if (!s.replies.empty()) send_replies(s);
  }
  const std::uint64_t back = caught_up(s.given_back, released);
  if (back <= s.sent) s.given_back = back;
  if (refused && s.broken.empty()) s.broken = fmt::format("rank {} refused an access to its memory", s.peer);
}

void streams::on_signal(stream& s, const signal_body& b) {
  acknowledged(s, b.acknowledged, b.released, b.refused != 0);
  static_cast<void>(s.signal());
  if (!reached(b.word, s.signal_newest)) return;
  s.signal_newest = b.word;
  s.newest_after = b.after;
}

void streams::on_packet(stream& s, std::span<const std::byte> body) {
  const auto p = read_packet(body);
  if (!p) return owner_->channel().refuse();
  const auto verdict = s.in.judge(p->header.number);
  if (verdict == receive_window::verdict::beyond) {
    // No rank sends so far ahead: nothing of it is believed.
    ++counts_.dropped;
    return;
  }
  acknowledged(s, p->header.acknowledged, p->header.released, (p->header.flags & has_refused) != 0);
  if (s.in.kept_one() != nullptr) deliver_kept(s);
  switch (s.in.judge(p->header.number)) {
    case receive_window::verdict::beyond:
      return;
    case receive_window::verdict::duplicate:
      ++counts_.duplicates;
      break;
    case receive_window::verdict::early:
      ++counts_.early;
      if (!s.in.keep(p->header.number, body)) ++counts_.dropped;
      if (s.hole_since == steady::time_point{}) s.hole_since = steady::now();
      // On a fabric that reorders, the missing one may only be late.
      if (!s.hole_reported && __builtin_popcountll(s.in.held()) >= overtakers) {
        s.hole_reported = true;
        report(s, resend::holes, true, counts_.resend_requests);
      }
      return;
    case receive_window::verdict::expected:
      if (s.in.kept_one() != nullptr || !deliver(s, *p)) {
        ++counts_.dropped;
        return;
      }
      s.hole_reported = false;
      s.hole_since = {};
      s.requests = 0;
      if (s.in.advance()) deliver_kept(s);
      break;
  }
  const auto type = static_cast<packet_type>(p->header.type);
  // Who answers a read may be asleep again, and goes on when it hears that there is room.
  if ((p->header.flags & wants_report) != 0)
    report(s, resend::nothing, type == packet_type::read_reply, counts_.acknowledgements);
}

void streams::deliver_kept(stream& s) {
  for (auto* k = s.in.kept_one(); k != nullptr; k = s.in.kept_one()) {
    if (!deliver(s, k->span())) return;
    s.in.drop_kept();
    s.in.advance();
  }
}

bool streams::deliver(stream& s, std::span<const std::byte> bytes) {
  const auto p = read_packet(bytes);
  return !p || deliver(s, *p);
}

bool streams::deliver(stream& s, const packet& p) {
  switch (static_cast<packet_type>(p.header.type)) {
    case packet_type::message:
      return store(s, p);
    case packet_type::put:
      on_put(s, p, std::get<put_body>(p.body));
      return true;
    case packet_type::read_request:
      on_read(s, std::get<read_body>(p.body));
      return true;
    case packet_type::read_reply:
      on_reply(s, std::get<reply_body>(p.body), p.payload);
      return true;
    case packet_type::atomic_request:
      on_atomic(s, std::get<atomic_body>(p.body));
      return true;
    case packet_type::atomic_reply: {
      const auto& b = std::get<atomic_reply_body>(p.body);
      const auto at = operations_.find(b.ticket);
      if (at != operations_.end() && at->second.peer == s.peer && at->second.old != nullptr) {
        *at->second.old = b.old;
        at->second.done = true;
      }
      return true;
    }
    case packet_type::refusal:
      on_refusal(s, std::get<refusal_body>(p.body));
      return true;
    case packet_type::offer:
    case packet_type::acceptance:
    case packet_type::refusal_of_offer:
      path_news_.push_back({s.peer, static_cast<packet_type>(p.header.type)});
      return true;
    case packet_type::departure:
      s.departed = true;
      return true;
  }
  return true;
}

bool streams::store(stream& s, const packet& p) {
  if (p.payload.size() > block_bytes_ || s.messages.size() >= blocks_) {
    // No rank of this group sends that: it is thrown away, and the stream goes on.
    owner_->channel().refuse();
    return true;
  }
  if (!s.messages.empty() && !pool_.has_room()) return false;
  std::byte* block = pool_.take();
  if (!p.payload.empty()) std::memcpy(block, p.payload.data(), p.payload.size());
  s.messages.push_back(
      {block, static_cast<std::uint32_t>(p.payload.size()), p.header.call, p.header.signature});
  counts_.most_buffered = std::max<std::uint64_t>(counts_.most_buffered, s.messages.size());
  return true;
}

void streams::on_put(stream& s, const packet& p, const put_body& b) {
  if (!p.payload.empty()) {
    if (const auto why = exposures_.check(b.key, b.address, p.payload.size(), true)) {
      refuse(s, b.address, p.payload.size(), b.key, 0, *why);
      return;
    }
    place(reinterpret_cast<std::byte*>(b.address), p.payload);
  }
  if ((p.header.flags & is_notified) != 0) s.notices.push_back({p.header.call, p.header.signature});
}

void streams::on_read(stream& s, const read_body& b) {
  if (s.replies.size() >= most_replies)
    return refuse(s, b.address, b.bytes, b.key, b.ticket, refusal_reason::too_many);
  s.replies.push_back({b, 0});
  send_replies(s);
}

void streams::on_atomic(stream& s, const atomic_body& b) {
  constexpr std::size_t word = sizeof(std::uint64_t);
  auto why = exposures_.check(b.key, b.address, word, true);
  if (!why && b.address % word != 0) why = refusal_reason::alignment;
  if (!why && s.replies.size() >= most_replies) why = refusal_reason::too_many;
  if (why) return refuse(s, b.address, word, b.key, b.ticket, *why);
  const auto old = atomic_here(b.address, static_cast<atomic_operation>(b.operation), b.first, b.second);
  s.replies.push_back({atomic_reply_body{old, b.ticket, 0}, 0});
  send_replies(s);
}

void streams::refuse(stream& s, std::uint64_t address, std::uint64_t bytes, std::uint32_t key,
                     std::uint32_t ticket, refusal_reason why) {
  ++counts_.refused;
  if (ticket == 0) s.has_refused = true;
  if (s.replies.size() >= 2 * most_replies) return;
  s.replies.push_back({refusal_body{address, bytes, key, ticket, static_cast<std::uint32_t>(why), 0}, 0});
  send_replies(s);
}

void streams::send_replies(stream& s) {
  while (!s.replies.empty()) {
    if (!has_room(s)) return lag(s);
    due_reply& r = s.replies.front();
    if (const auto* read = std::get_if<read_body>(&r.what)) {
      const std::uint64_t address = read->address + r.sent;
      const std::uint64_t part =
          std::min<std::uint64_t>(read->bytes - r.sent, room_ - sizeof(packet_header) - sizeof(reply_body));
      // At each part anew: the memory may have been concealed meanwhile.
      if (const auto why = exposures_.check(read->key, address, part, false)) {
        ++counts_.refused;
        r.what = refusal_body{address, part, read->key, read->ticket, static_cast<std::uint32_t>(*why), 0};
        continue;
      }
      push(s, packet_type::read_reply, 0, {}, reply_body{r.sent, read->ticket, 0},
           {reinterpret_cast<const std::byte*>(address), static_cast<std::size_t>(part)});
      r.sent += part;
      if (r.sent < read->bytes) continue;
    } else if (const auto* atomic = std::get_if<atomic_reply_body>(&r.what)) {
      push(s, packet_type::atomic_reply, 0, {}, *atomic, {});
    } else {
      push(s, packet_type::refusal, 0, {}, std::get<refusal_body>(r.what), {});
    }
    s.replies.pop_front();
  }
}

void streams::on_reply(const stream& s, const reply_body& b, std::span<const std::byte> payload) {
  const auto at = operations_.find(b.ticket);
  if (at == operations_.end() || at->second.peer != s.peer) return;
  operation& o = at->second;
  if (o.into == nullptr || b.offset > o.bytes || payload.size() > o.bytes - b.offset) return;
  if (!payload.empty()) std::memcpy(o.into + b.offset, payload.data(), payload.size());
  o.received += payload.size();
  o.done = o.received >= o.bytes;
}

void streams::on_refusal(stream& s, const refusal_body& b) {
  std::string why = fmt::format("rank {} refused an access to {} bytes at {:#x} with key {:#x}: {}", s.peer,
                                b.bytes, b.address, b.key, describe(static_cast<refusal_reason>(b.reason)));
  const auto at = operations_.find(b.ticket);
  if (at != operations_.end() && at->second.peer == s.peer)
    at->second.refused = std::move(why);
  else if (b.ticket == 0)
    s.broken = std::move(why);
}

}  // namespace chorale::transport::reliable
