// SPDX-License-Identifier: Apache-2.0
#include "memory_client.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/copy_bytes.hpp>

namespace chorale::transport::reliable {

bool memory_client::put(stream& to, write_request& w, call_id call, clock::time_point now) {
  if (w.from.empty() && !w.notified) w.complete = true;
  peer_state& p = peers_.get(to.peer());
  while (!w.complete) {
    if (!to.has_room()) return false;
    const std::size_t part =
        std::min(w.from.size() - w.sent, room_ - sizeof(packet_header) - sizeof(put_body));
    w.complete = w.sent + part == w.from.size();
    std::uint8_t flags = 0;
    if (w.complete) flags = w.notified ? wants_report | is_notified : wants_report;
    to.push(packet_type::put, flags, call, put_body{w.address + w.sent, w.key, 0},
            w.from.subspan(w.sent, part), now);
    w.sent += part;
    p.last_put = to.next();
    p.puts = true;
  }
  return true;
}

std::uint32_t memory_client::keep(operation&& o) {
  std::uint32_t ticket = next_ticket_++;
  if (ticket == 0) ticket = next_ticket_++;
  operations_.insert_or_assign(ticket, std::move(o));
  return ticket;
}

std::uint32_t memory_client::get(stream& from, std::uint64_t address, std::uint32_t key,
                                 std::span<std::byte> into, clock::time_point now) {
  const auto ticket = keep({.peer = from.peer(), .into = into.data(), .bytes = into.size()});
  from.push(packet_type::read_request, 0, {}, read_body{address, into.size(), key, ticket}, {}, now);
  return ticket;
}

std::uint32_t memory_client::operate(stream& on, std::uint64_t address, std::uint32_t key,
                                     atomic_operation what, std::uint64_t first, std::uint64_t second,
                                     std::uint64_t& old, clock::time_point now) {
  const auto ticket = keep({.peer = on.peer(), .old = &old});
  on.push(packet_type::atomic_request, 0, {},
          atomic_body{address, first, second, key, ticket, static_cast<std::uint32_t>(what), 0}, {}, now);
  return ticket;
}

memory_client::progress memory_client::finish(std::uint32_t ticket) {
  operation& o = operations_.at(ticket);
  progress p{o.done || !o.refused.empty(), o.peer, {}};
  if (!p.over) return p;
  if (!o.refused.empty()) p.refused = std::make_unique<std::string>(std::move(o.refused));
  operations_.erase(ticket);
  return p;
}

void memory_client::withdraw() noexcept {
  for (auto& [ticket, one] : operations_) {
    one.into = nullptr;
    one.old = nullptr;
  }
}

memory_client::operation* memory_client::find(int peer, std::uint32_t ticket) noexcept {
  const auto at = operations_.find(ticket);
  return at == operations_.end() || at->second.peer != peer ? nullptr : &at->second;
}

void memory_client::on_reply(int from, const reply_body& b, std::span<const std::byte> payload) noexcept {
  operation* o = find(from, b.ticket);
  if (o == nullptr || o->into == nullptr || b.offset > o->bytes || payload.size() > o->bytes - b.offset)
    return;
  if (!payload.empty()) copy_bytes(o->into + b.offset, payload.data(), payload.size());
  o->received += payload.size();
  o->done = o->received >= o->bytes;
}

void memory_client::on_atomic_reply(int from, const atomic_reply_body& b) noexcept {
  operation* o = find(from, b.ticket);
  if (o == nullptr || o->old == nullptr) return;
  *o->old = b.old;
  o->done = true;
}

void memory_client::on_refusal(stream& from, const refusal_body& b) {
  std::string why =
      fmt::format("rank {} refused an access to {} bytes at {:#x} with key {:#x}: {}", from.peer(), b.bytes,
                  b.address, b.key, describe(static_cast<refusal_reason>(b.reason)));
  if (operation* o = find(from.peer(), b.ticket))
    o->refused = std::move(why);
  else if (b.ticket == 0)
    from.break_off(std::move(why));
}

}  // namespace chorale::transport::reliable
