// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include <chorale/transport/paths/path_router.hpp>

namespace chorale::transport {
namespace {

using reliable::path_mark;

/// Number of messages sent to a peer from which on it counts as busy: the traffic amortizes a connection.
constexpr std::uint64_t busy_messages = 16;
constexpr std::uint64_t busy_bytes = 64 * 1024;

constexpr int sends_between_looks = 4;

/// Minimal number of partners of a rank in `steps` steps of a pairwise exchange: if the number of ranks is
/// not a power of two, steps i and ranks - i have the same two partners; if it is odd, the result is
/// therefore even.
int partners_in(int steps, int ranks) noexcept {
  const int most = std::min(steps, ranks - 1);
  return most + (ranks % 2 == 1 && most % 2 == 1 ? 1 : 0);
}

/// Symmetric, and true for `limit` peers of each rank if `limit` is a result of `partners_in`.
bool is_near(int a, int b, int ranks, int limit) noexcept {
  if (std::has_single_bit(static_cast<unsigned>(ranks))) return (a ^ b) <= limit;
  const int forward = (b - a + ranks) % ranks;
  const int distance = std::min(forward, ranks - forward);
  if (2 * distance == ranks) return limit % 2 == 1;
  return 2 * distance <= limit;
}

}  // namespace

path_router::path_router(connections& links, rdma_mailbox& by_connection, reliable::streams& by_datagrams,
                         int limit, path_choice choice)
    : links_(&links),
      inbox_(&by_connection),
      streams_(&by_datagrams),
      rank_(links.owner().rank()),
      ranks_(links.owner().size()),
      limit_(choice == path_choice::busiest ? std::min(limit, ranks_ - 1) : partners_in(limit, ranks_)),
      choice_(choice),
      peers_(static_cast<std::size_t>(ranks_)) {
  constexpr peer_path by_connection_alone{
      .now = stage::connection, .signals_there = true, .messages_there = true, .notices_there = true};
  for (int peer = 0; peer < ranks_; ++peer)
    if (peer != rank_ && links.is_near(peer)) of(peer) = by_connection_alone;
}

bool path_router::admits(int peer) const noexcept {
  const peer_path& p = peers_[static_cast<std::size_t>(peer)];
  if (p.now != stage::datagrams && p.now != stage::offered) return true;
  return choice_ == path_choice::nearest && is_near(rank_, peer, ranks_, limit_);
}

void path_router::offer(int peer) {
  peer_path& p = of(peer);
  // An offer that overtook the refusal of the peer's own offer would look like an acceptance.
  if (p.now != stage::datagrams || p.answers || places_ >= limit_) return;
  ++places_;
  under_way_.push_back(peer);
  if (choice_ == path_choice::nearest) {
    p.now = stage::connecting;
  } else {
    p.now = stage::offered;
    p.offers = true;
  }
}

void path_router::wants_connection(int peer) {
  if (peer < 0 || peer >= ranks_ || peer == rank_) return;
  if (choice_ != path_choice::asked || of(peer).messages < of(peer).wanted_from) return;
  offer(peer);
}

void path_router::count(int to, std::size_t bytes) {
  peer_path& p = of(to);
  ++p.messages;
  p.bytes += bytes;
  if (p.now != stage::datagrams) return;
  if (choice_ == path_choice::nearest) {
    if (is_near(rank_, to, ranks_, limit_)) offer(to);
  } else if (choice_ == path_choice::busiest && p.messages >= p.wanted_from &&
             (p.messages >= busy_messages || p.bytes >= busy_bytes)) {
    offer(to);
  }
}

void path_router::take_news() {
  for (const auto mark : streams_->take_path_marks()) {
    peer_path& p = of(mark.from);
    switch (mark.what) {
      case path_mark::offer:
        if (p.now == stage::offered) {
          // Both have offered, which is an agreement.
          p.now = stage::connecting;
        } else if (p.now == stage::datagrams) {
          p.answers = true;
          p.accepts = choice_ != path_choice::nearest && places_ < limit_;
          under_way_.push_back(mark.from);
          if (p.accepts) {
            ++places_;
            p.now = stage::connecting;
          }
        }
        break;
      case path_mark::acceptance:
        if (p.now == stage::offered) p.now = stage::connecting;
        break;
      case path_mark::refusal_of_offer:
        if (p.now == stage::offered) {
          p.now = stage::datagrams;
          --places_;
          p.wanted_from = 2 * std::max(p.messages, busy_messages);
        }
        break;
      default:
        break;
    }
  }
}

void path_router::advance(int peer) {
  peer_path& p = of(peer);
  if (p.offers && streams_->try_tell(peer, path_mark::offer)) p.offers = false;
  if (p.answers && !p.offers &&
      streams_->try_tell(peer, p.accepts ? path_mark::acceptance : path_mark::refusal_of_offer))
    p.answers = false;
  if (p.offers || p.answers) return;
  if (p.now == stage::connecting) {
    const connection* c = links_->find(peer);
    const bool there = (c != nullptr && c->ready) || links_->connect(peer);
    // After the mark nothing more arrives by datagrams: data that is not in the stream yet would be
    // overtaken.
    if (there && p.writes == 0 && streams_->try_tell(peer, path_mark::departure)) p.now = stage::marked;
  }
  if (p.now == stage::marked && streams_->try_drain(peer)) p.now = stage::connection;
}

void path_router::on_progress() {
  take_news();
  if (under_way_.empty()) return;
  // `connect` drives progress as well, and must not find the list in use.
  auto now = std::exchange(under_way_, {});
  for (const int peer : now) {
    advance(peer);
    const peer_path& p = of(peer);
    const bool settled = (p.now == stage::datagrams || p.now == stage::connection) && !p.answers && !p.offers;
    if (!settled && std::find(under_way_.begin(), under_way_.end(), peer) == under_way_.end())
      under_way_.push_back(peer);
  }
}

void path_router::reject(int peer, const char* what) const {
  throw error(errc::invalid_argument,
              fmt::format("rank {} cannot {} rank {} of {}", rank_, what, peer, ranks_));
}

path path_router::choose_path(int to, std::size_t bytes) {
  check(to, "send to");
  const stage now = of(to).now;
  if (now == stage::connection) [[likely]]
    return path::connection;
  if (now == stage::marked) {
    owner().engine().progress();
    return of(to).now == stage::connection ? path::connection : path::changing;
  }
  count(to, bytes);
  // Needed for ranks that never wait for long, which would otherwise never complete their connections.
  if (!under_way_.empty() && ++sent_since_look_ >= sends_between_looks) {
    sent_since_look_ = 0;
    owner().engine().progress();
    if (of(to).now == stage::marked) return path::changing;
    if (of(to).now == stage::connection) return path::connection;
  }
  return path::datagrams;
}

bool path_router::try_signal(int to, call_id now) {
  switch (choose_path(to, 0)) {
    case path::changing:
      return false;
    case path::connection:
      return inbox_->try_signal(to, now);
    case path::datagrams:
      break;
  }
  return streams_->try_signal(to, now);
}

bool path_router::try_signalled(int from, call_id now) {
  check(from, "await a signal of");
  peer_path& p = of(from);
  if (p.signals_there) [[likely]]
    return inbox_->try_signalled(from, now);
  if (streams_->has_departed(from) && inbox_->try_signalled(from, now)) return p.signals_there = true;
  // The last signal by datagram may have been lost, whatever has arrived by the connection.
  return streams_->try_signalled(from, now);
}

bool path_router::try_send(int to, call_id now, std::span<const std::byte> bytes) {
  switch (choose_path(to, bytes.size())) {
    case path::changing:
      return false;
    case path::connection:
      return inbox_->try_send(to, now, bytes);
    case path::datagrams:
      break;
  }
  return streams_->try_send(to, now, bytes);
}

bool path_router::try_send(int to, call_id now, shared_payload& payload) {
  switch (choose_path(to, payload.bytes().size())) {
    case path::changing:
      return false;
    case path::connection:
      return inbox_->try_send(to, now, payload);
    case path::datagrams:
      break;
  }
  return streams_->try_send(to, now, payload.bytes());
}

bool path_router::try_receive(int from, call_id now, std::span<const std::byte>& message) {
  check(from, "receive from");
  peer_path& p = of(from);
  if (!p.messages_there) p.messages_there = streams_->has_no_more_messages(from);
  last_by_connection_ = p.messages_there;
  return last_by_connection_ ? inbox_->try_receive(from, now, message)
                             : streams_->try_receive(from, now, message);
}

void path_router::release(origin from) noexcept {
  if (from.by_connection)
    inbox_->release(inbox_->sender_of(from.rank));
  else
    streams_->release(from.rank);
}

}  // namespace chorale::transport
