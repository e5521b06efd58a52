// Streams: memory operations that are emulated by packets.
#include <algorithm>
#include <atomic>
#include <mutex>

#include <fmt/format.h>

#include "stream.hpp"

namespace chorale::transport::reliable {

std::uint32_t streams::expose(std::span<const std::byte> memory, bool writable) {
  const std::lock_guard hold{owner_->channel().lock()};
  return exposures_.add(memory, writable);
}

void streams::expose_as(std::uint32_t key, std::span<const std::byte> memory, bool writable) {
  const std::lock_guard hold{owner_->channel().lock()};
  exposures_.add_as(key, memory, writable);
}

void streams::conceal(std::uint32_t key, std::span<const std::byte> memory, bool writable) noexcept {
  const std::lock_guard hold{owner_->channel().lock()};
  exposures_.remove(key, memory, writable);
}

void streams::withdraw() noexcept {
  const std::lock_guard hold{owner_->channel().lock()};
  exposures_.clear();
  for (auto& [ticket, one] : operations_) {
    one.into = nullptr;
    one.old = nullptr;
  }
}

bool streams::try_put(write& w, epoch now) {
  const std::lock_guard hold{owner_->channel().lock()};
  stream& s = checked(w.target.owner, "put to");
  require_sound(s);
  while (!w.complete) {
    if (w.from.empty() && !w.notified) {
      w.complete = true;
      return true;
    }
    if (!has_room(s)) {
      owner_->channel().read();
      if (!has_room(s)) {
        press(s);
        return false;
      }
    }
    const std::size_t part =
        std::min(w.from.size() - w.sent, room_ - sizeof(packet_header) - sizeof(put_body));
    w.complete = w.sent + part == w.from.size();
    std::uint8_t flags = 0;
    if (w.complete) flags = w.notified ? wants_report | is_notified : wants_report;
    push(s, packet_type::put, flags, now, put_body{w.target.address + w.offset + w.sent, w.target.key, 0},
         w.from.subspan(w.sent, part));
    w.sent += part;
    s.last_put = s.out.next();
    s.puts = true;
  }
  s.next_question = {};
  return true;
}

bool streams::try_flush(int peer) {
  if (peer == owner_->rank()) return true;
  const std::lock_guard hold{owner_->channel().lock()};
  stream& s = checked(peer, "flush");
  if (s.puts) {
    owner_->channel().read();
    require_sound(s);
    if (s.puts) {
      press(s);
      return false;
    }
  }
  require_sound(s);
  s.next_question = {};
  return true;
}

bool streams::try_notified(int from, epoch now) {
  const std::lock_guard hold{owner_->channel().lock()};
  stream& s = checked(from, "be notified by");
  if (s.notices.empty()) {
    owner_->channel().read();
    if (s.notices.empty()) {
      waits(s);
      return false;
    }
  }
  waited(s);
  const stream::notice n = s.notices.front();
  if (n.call != static_cast<std::uint32_t>(now.number) || n.signature != now.signature) [[unlikely]] {
    owner_->inquiry().mismatch(from, now);
    return false;
  }
  s.notices.pop_front();
  return true;
}

std::uint32_t streams::try_get(remote_region source, std::size_t offset, std::span<std::byte> into) {
  operation o;
  o.into = into.data();
  o.bytes = into.size();
  return request(source.owner, "get from", packet_type::read_request, o, [&](std::uint32_t ticket) {
    return read_body{source.address + offset, into.size(), source.key, ticket};
  });
}

std::uint32_t streams::try_atomic(remote_region target, std::size_t offset, atomic_operation what,
                                  std::uint64_t first, std::uint64_t second, std::uint64_t& old) {
  operation o;
  o.old = &old;
  return request(target.owner, "operate on", packet_type::atomic_request, o, [&](std::uint32_t ticket) {
    return atomic_body{target.address + offset,          first, second, target.key, ticket,
                       static_cast<std::uint32_t>(what), 0};
  });
}

template <class MakeBody>
std::uint32_t streams::request(int peer, const char* what, packet_type type, operation& o, MakeBody&& body) {
  const std::lock_guard hold{owner_->channel().lock()};
  stream& s = checked(peer, what);
  require_sound(s);
  if (!has_room(s)) {
    owner_->channel().read();
    if (!has_room(s)) {
      press(s);
      return 0;
    }
  }
  s.next_question = {};
  std::uint32_t ticket = next_ticket_++;
  if (ticket == 0) ticket = next_ticket_++;
  o.peer = peer;
  operations_.insert_or_assign(ticket, o);
  push(s, type, 0, {}, body(ticket), {});
  return ticket;
}

bool streams::try_finish(std::uint32_t ticket) {
  const std::lock_guard hold{owner_->channel().lock()};
  operation& o = operations_.at(ticket);
  if (!o.done && o.refused.empty()) owner_->channel().read();
  stream& s = at(o.peer);
  if (!o.refused.empty()) {
    const std::string why = std::move(o.refused);
    operations_.erase(ticket);
    owner_->failures().lose(s.peer, why);
  }
  if (!o.done) {
    // Either the request or the answer may be lost.
    if (s.out.outstanding() != 0) press(s);
    waits(s);
    return false;
  }
  waited(s);
  s.next_question = {};
  operations_.erase(ticket);
  return true;
}

void streams::abandon(std::uint32_t ticket) noexcept {
  const std::lock_guard hold{owner_->channel().lock()};
  operations_.erase(ticket);
}

std::uint64_t streams::atomic_here(std::uint64_t address, atomic_operation what, std::uint64_t first,
                                   std::uint64_t second) {
  const std::lock_guard hold{owner_->channel().lock()};
  const std::atomic_ref word{*reinterpret_cast<std::uint64_t*>(address)};
  if (what == atomic_operation::fetch_add) return word.fetch_add(first, std::memory_order_acq_rel);
  word.compare_exchange_strong(first, second, std::memory_order_acq_rel);
  return first;
}

}  // namespace chorale::transport::reliable
