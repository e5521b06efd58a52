// SPDX-License-Identifier: Apache-2.0
// The owner of a rank's streams: memory operations.
#include <mutex>

#include "streams_parts.hpp"

namespace chorale::transport::reliable {

std::uint32_t streams::expose(std::span<const std::byte> memory, bool writable) {
  const std::lock_guard hold{*lock_};
  return table_->exposed().add(memory, writable);
}

void streams::expose_as(std::uint32_t key, std::span<const std::byte> memory, bool writable) {
  const std::lock_guard hold{*lock_};
  table_->exposed().add_as(key, memory, writable);
}

void streams::conceal(std::uint32_t key, std::span<const std::byte> memory, bool writable) noexcept {
  const std::lock_guard hold{*lock_};
  table_->exposed().remove(key, memory, writable);
}

void streams::withdraw() noexcept {
  const std::lock_guard hold{*lock_};
  table_->withdraw();
}

bool streams::try_put(write_request& w, call_id now) {
  check(w.peer, "put to");
  const std::lock_guard hold{*lock_};
  require_sound(w.peer);
  while (!table_->put(w, now, clock::now()))
    if (!make_room(w.peer)) return false;
  table_->end_report_requests(w.peer);
  return true;
}

bool streams::try_flush(int peer) {
  if (peer == rank_) return true;
  check(peer, "flush");
  const std::lock_guard hold{*lock_};
  if (!table_->is_flushed(peer)) {
    owner_->channel().read();
    require_sound(peer);
    if (!table_->is_flushed(peer)) {
      // A put by itself requests no answer; the question wakes the service thread of a rank that computes.
      table_->request_report_soon(peer, clock::now());
      return false;
    }
  }
  require_sound(peer);
  table_->end_report_requests(peer);
  return true;
}

bool streams::try_notified(int from, call_id now) {
  check(from, "be notified by");
  return attempt(from, now, [&] { return table_->notified(from, now); });
}

void streams::expect(int from) {
  const std::lock_guard hold{*lock_};
  owner_->channel().read();
  for (int peer = 0; peer < ranks_; ++peer)
    if (peer != rank_ && (from < 0 ? !owner_->liveness().is_gone(peer) : peer == from)) await(peer);
}

std::uint32_t streams::try_get(int from, std::uint64_t address, std::uint32_t key,
                               std::span<std::byte> into) {
  check(from, "get from");
  const std::lock_guard hold{*lock_};
  require_sound(from);
  if (!make_room(from)) return 0;
  table_->end_report_requests(from);
  return table_->get(from, address, key, into, clock::now());
}

std::uint32_t streams::try_atomic(int on, std::uint64_t address, std::uint32_t key, atomic_operation what,
                                  std::uint64_t first, std::uint64_t second, std::uint64_t& old) {
  check(on, "operate on");
  const std::lock_guard hold{*lock_};
  require_sound(on);
  if (!make_room(on)) return 0;
  table_->end_report_requests(on);
  return table_->operate(on, address, key, what, first, second, old, clock::now());
}

bool streams::try_finish(std::uint32_t ticket) {
  const std::lock_guard hold{*lock_};
  auto how = table_->finish(ticket);
  if (!how.over) {
    owner_->channel().read();
    how = table_->finish(ticket);
  }
  if (how.refused) owner_->failures().lose(how.peer, *how.refused);
  if (!how.over) {
    require_sound(how.peer);
    table_->await_answer(how.peer, clock::now());
    return false;
  }
  table_->end_await(how.peer);
  table_->end_report_requests(how.peer);
  return true;
}

void streams::abandon(std::uint32_t ticket) noexcept {
  const std::lock_guard hold{*lock_};
  table_->abandon(ticket);
}

void streams::serve_peers() {
  if (!owner_->channel().is_served()) owner_->channel().read();
}

std::uint64_t streams::atomic_here(std::uint64_t address, atomic_operation what, std::uint64_t first,
                                   std::uint64_t second) {
  serve_peers();
  const std::lock_guard hold{*lock_};
  return memory_server::operate(address, what, first, second);
}

}  // namespace chorale::transport::reliable
