// SPDX-License-Identifier: Apache-2.0
// Completions of the connections' requests, and farewells of peers.
#include <arpa/inet.h>
#include <array>
#include <utility>

#include <chorale/transport/connections/connections.hpp>

#include "../../verbs/text.hpp"
#include "queue_pair_numbers.hpp"

namespace chorale::transport {
namespace {

/// Each round of a wait checks all connections for a farewell if there are at most `few_connections`;
/// otherwise every `rounds_a_farewell`-th round checks one, round-robin. Each farewell word has its own cache
/// line and page: checking hundreds would cost more than the rest of the round, and a delay in noticing that
/// a peer has left does no harm.
constexpr std::size_t few_connections = 8;
constexpr std::size_t rounds_a_farewell = 8;

}  // namespace

// Inlined in spite of its two callers, since most ranks have one lane.
[[gnu::always_inline]] inline void connections::reap(lane& from) {
  std::array<ibv_wc, 16> room;
  for (;;) {
    const auto done = from.completions.poll(room);
    for (const ibv_wc& wc : done) {
      if ((wc.wr_id & receive_queue::mark) != 0)
        on_receive_completion(from, wc);
      else
        on_send_completion(wc);
    }
    if (done.size() < room.size()) return;
  }
}

void connections::reap() {
  reap(lane_);
  if (near_) [[unlikely]]
    reap(*near_);
}

void connections::on_send_completion(const ibv_wc& wc) {
  connection* c = find(static_cast<int>(wc.wr_id >> 32));
  if (c == nullptr) return;
  if (wc.status != IBV_WC_SUCCESS) return break_off(*c, verbs::describe(wc, "RDMA operation"));
  --counts_.signalled;
  c->completed += static_cast<std::uint32_t>(wc.wr_id) - static_cast<std::uint32_t>(c->completed);
  if (c->probe.ticket != 0 && c->completed >= c->probe.ticket) {
    c->probe.ticket = 0;
    owner_->liveness().hear(c->peer);
  }
}

void connections::on_receive_completion(lane& from, const ibv_wc& wc) {
  // If a receive fails, the requests of its connection fail as well.
  if (wc.status != IBV_WC_SUCCESS) return;
  const auto& numbered = by_number_->of(from, *this);
  const auto at = numbered.find(wc.qp_num);
  if (at == numbered.end()) return;
  clock::worked(host_work::receive);
  const std::uint64_t index = wc.wr_id & ~receive_queue::mark;
  if (wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
    const std::uint32_t word = ntohl(wc.imm_data);
    if ((word & written_mark) != 0)
      user_->on_written(*at->second, word & ~written_mark);
    else
      user_->on_notice(*at->second, word);
    from.receives.post(index);
  } else if ((wc.wc_flags & IBV_WC_WITH_IMM) != 0) {
    on_word(*at->second, index, wc);
  } else {
    user_->on_message(*at->second, index, wc);
  }
}

void connections::on_word(connection& c, std::uint64_t index, const ibv_wc& wc) {
  const std::uint32_t offset = ntohl(wc.imm_data);
  if (!c.by->options.announced_writes || wc.byte_len != sizeof(std::uint64_t) ||
      offset % sizeof(std::uint64_t) != 0 || offset >= mailbox_layout::blocks_offset)
    break_off(c, "it sent a word that belongs nowhere");
  else
    std::memcpy(c.words + offset, c.by->receives.block(index), sizeof(std::uint64_t));
  c.by->receives.post(index);
}

void connections::break_off(connection& c, std::string why) {
  if (!c.broken.empty()) return;
  c.broken = std::move(why);
  ++counts_.broken;
}

bool connections::works(int peer) const noexcept {
  return peers_.find(peer)->broken.empty() && !owner_->liveness().is_gone(peer);
}

bool connections::has_left(int peer) const noexcept {
  return owner_->liveness().is_gone(peer);
}

void connections::poll_farewells() noexcept {
  const auto& open = table_.open_peers();
  const auto look_at = [this](int peer) {
    if (load_acquire(find(peer)->words + mailbox_layout::farewell_offset) != 0)
      owner_->liveness().leave(peer);
  };
  if (open.size() <= few_connections) {
    for (const int peer : open) look_at(peer);
  } else if (const std::size_t round = ++by_number_->rounds; round % rounds_a_farewell == 0) {
    look_at(open[round / rounds_a_farewell % open.size()]);
  }
}

void connections::on_progress() {
  reap();
  poll_farewells();
  if (counts_.broken > 0) {
    for (const int peer : table_.open_peers()) {
      if (!find(peer)->broken.empty() && !owner_->liveness().is_gone(peer))
        owner_->failures().lose(peer, find(peer)->broken);
    }
  }
  if (lane_.options.limit != 0) table_.progress(clock::now());
}

void connections::probe(int peer) {
  // An empty RDMA write shows whether the peer's adapter answers, without involving its CPU. (A read would do
  // too, but Soft-RoCE has a bug with reads among writes.)
  connection* c = find(peer);
  if (c != nullptr && c->ready) post_probe(*c);
}

void connections::post_probe(connection& c) {
  if (c.probe.ticket != 0 || !has_room(c)) return;
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma.remote_addr = c.there.inbox;
  request.wr.rdma.rkey = c.there.key;
  post(c, request);
  c.probe.ticket = c.posted;
  ++c.probe.sent;
}

}  // namespace chorale::transport
