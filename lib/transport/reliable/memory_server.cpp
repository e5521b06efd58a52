// SPDX-License-Identifier: Apache-2.0
#include "memory_server.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include <chorale/core/copy_bytes.hpp>

namespace chorale::transport::reliable {
namespace {

/// Limit of pending reads of one peer; valid ranks wait for each other's answers.
constexpr std::size_t most_replies = 256;
constexpr std::size_t word_bytes = sizeof(std::uint64_t);

/// Writes a word atomically, since the rank's own thread polls counters of windows without the lock.
void place(std::byte* to, std::span<const std::byte> bytes) noexcept {
  std::uint64_t word;
  if (bytes.size() == sizeof word && reinterpret_cast<std::uintptr_t>(to) % sizeof word == 0) {
    std::memcpy(&word, bytes.data(), sizeof word);
    std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(to))
        .store(word, std::memory_order_release);
  } else {
    copy_bytes(to, bytes.data(), bytes.size());
  }
}

refusal_body refusal(std::uint64_t address, std::uint64_t bytes, std::uint32_t key, std::uint32_t ticket,
                     refusal_reason why) noexcept {
  return {address, bytes, key, ticket, static_cast<std::uint32_t>(why), 0};
}

}  // namespace

std::uint64_t memory_server::operate(std::uint64_t address, atomic_operation what, std::uint64_t first,
                                     std::uint64_t second) noexcept {
  const std::atomic_ref word{*reinterpret_cast<std::uint64_t*>(address)};
  if (what == atomic_operation::fetch_add) return word.fetch_add(first, std::memory_order_acq_rel);
  word.compare_exchange_strong(first, second, std::memory_order_acq_rel);
  return first;
}

bool memory_server::on_put(stream& from, const put_body& b, std::span<const std::byte> payload,
                           const lazy_time& now) {
  if (payload.empty()) return true;
  if (const auto why = exposed_.check(b.key, b.address, payload.size(), true)) {
    refuse(from, refusal(b.address, payload.size(), b.key, 0, *why), now);
    return false;
  }
  place(reinterpret_cast<std::byte*>(b.address), payload);
  return true;
}

void memory_server::on_read(stream& from, const read_body& b, const lazy_time& now) {
  auto& replies = replies_.get(from.peer());
  if (replies.size() >= most_replies)
    return refuse(from, refusal(b.address, b.bytes, b.key, b.ticket, refusal_reason::too_many), now);
  replies.push_back({b, 0});
  send_replies(from, now);
}

void memory_server::on_atomic(stream& from, const atomic_body& b, const lazy_time& now) {
  auto& replies = replies_.get(from.peer());
  auto why = exposed_.check(b.key, b.address, word_bytes, true);
  if (!why && b.address % word_bytes != 0) why = refusal_reason::alignment;
  if (!why && replies.size() >= most_replies) why = refusal_reason::too_many;
  if (why) return refuse(from, refusal(b.address, word_bytes, b.key, b.ticket, *why), now);
  const auto old = operate(b.address, static_cast<atomic_operation>(b.operation), b.first, b.second);
  replies.push_back({atomic_reply_body{old, b.ticket, 0}, 0});
  send_replies(from, now);
}

void memory_server::refuse(stream& to, const refusal_body& b, const lazy_time& now) {
  ++counts_->refused;
  if (b.ticket == 0) to.note_refusal();
  auto& replies = replies_.get(to.peer());
  if (replies.size() >= 2 * most_replies) return;
  replies.push_back({b, 0});
  send_replies(to, now);
}

void memory_server::send_replies(stream& to, const lazy_time& now) {
  auto& replies = replies_.get(to.peer());
  while (!replies.empty()) {
    if (!to.has_room()) return to.lag();
    due_reply& r = replies.front();
    if (const auto* read = std::get_if<read_body>(&r.what)) {
      const std::uint64_t address = read->address + r.sent;
      const std::uint64_t part =
          std::min<std::uint64_t>(read->bytes - r.sent, room_ - sizeof(packet_header) - sizeof(reply_body));
      // Check again for each part, since the memory may have been withdrawn meanwhile.
      if (const auto why = exposed_.check(read->key, address, part, false)) {
        ++counts_->refused;
        r.what = refusal(address, part, read->key, read->ticket, *why);
        continue;
      }
      to.push(packet_type::read_reply, 0, {}, reply_body{r.sent, read->ticket, 0},
              {reinterpret_cast<const std::byte*>(address), static_cast<std::size_t>(part)}, now);
      r.sent += part;
      if (r.sent < read->bytes) continue;
    } else if (const auto* atomic = std::get_if<atomic_reply_body>(&r.what)) {
      to.push(packet_type::atomic_reply, 0, {}, *atomic, {}, now);
    } else {
      to.push(packet_type::refusal, 0, {}, std::get<refusal_body>(r.what), {}, now);
    }
    replies.pop_front();
  }
}

}  // namespace chorale::transport::reliable
