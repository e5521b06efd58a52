// Reliable connections: made by datagrams when a rank first sends to another, ended without loss.
#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include <fmt/format.h>

#include <chorale/transport/connected.hpp>

#include "connecting.hpp"
#include "messages.hpp"

namespace chorale::transport {
namespace {

constexpr int remote_access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

constexpr auto withdrawal_time = std::chrono::milliseconds{10};

std::uint32_t random_psn() {
  static thread_local std::mt19937 generator{std::random_device{}()};
  return generator() & 0xffffffU;
}

}  // namespace

connected::link& connected::known_link(int peer) {
  auto& slot = links_[static_cast<std::size_t>(peer)];
  if (!slot) {
    slot = std::make_unique<link>();
    slot->peer = peer;
  }
  return *slot;
}

void connected::open(link& l) {
  verbs::queue_pair_options o;
  o.type = IBV_QPT_RC;
  o.send = &*cq_;
  o.recv = &*cq_;
  o.send_depth = std::min(queue_depth, static_cast<std::uint32_t>(device().attributes().max_qp_wr));
  o.srq = &*srq_;
  o.send_sges = 2;
  std::optional<verbs::queue_pair> made;
  // How much a device can take inline is known only by asking it.
  for (;;) {
    o.inline_bytes = inline_wanted_;
    try {
      made.emplace(domain(), o);
      break;
    } catch (const error&) {
      if (inline_wanted_ <= 16) throw;
      inline_wanted_ /= 2;
    }
  }
  made->to_init({.port = local_port().number, .pkey_index = settings().pkey_index, .access = remote_access});
  l.inbox = pool_.take(options_.inbox_bytes);
  l.qp = std::move(made);
  l.depth = o.send_depth;
  l.psn = random_psn();
  std::memcpy(l.inbox.data, l.kept_words, sizeof l.kept_words);
  l.words = l.inbox.data;
  l.used_before = l.used();
  l.last_active = ++uses_;
  l.waits_for_room_since = {};
  link_of_qp_.insert_or_assign(l.qp->number(), &l);
  open_links_.push_back(&l);
}

void connected::send_connect(link& l) {
  connect_message m{};
  m.qp_number = l.qp->number();
  m.psn = l.psn;
  m.inbox = reinterpret_cast<std::uintptr_t>(l.inbox.data);
  m.inbox_key = l.inbox.rkey;
  m.generation = l.generation;
  m.hears_you = l.receiving ? 1 : 0;
  m.wants_answer = l.ready || l.closing ? 0 : 1;
  send_datagram(l.peer, connect_kind, std::as_bytes(std::span{&m, 1}));
}

bool connected::connect(int peer) {
  if (peer < 0 || peer >= size() || peer == rank())
    throw error(errc::invalid_argument,
                fmt::format("rank {} cannot send to rank {} of {}", rank(), peer, size()));
  require_sound();
  link& l = known_link(peer);
  l.wished = true;
  progress();
  if (l.ready) return true;
  if (l.closing) return false;
  if (!l.qp) {
    if (!may_open(l)) return false;
    open(l);
  }
  if (const auto now = steady::now(); now >= l.next_request) {
    send_connect(l);
    l.next_request = now + l.request_interval;
    l.request_interval = std::min<steady::duration>(l.request_interval * 2, std::chrono::milliseconds{64});
  }
  return false;
}

void connected::on_datagram(int from, std::uint16_t kind, std::span<const std::byte> body) {
  if (from == rank()) return;
  if (connect_message m; kind == connect_kind && body.size() == sizeof m) {
    std::memcpy(&m, body.data(), sizeof m);
    on_connect(known_link(from), m);
  } else if (close_message c; kind == close_kind && body.size() == sizeof c) {
    std::memcpy(&c, body.data(), sizeof c);
    on_close(known_link(from), c);
  }
}

void connected::on_connect(link& l, const connect_message& m) {
  // The peer is a connection ahead: it has agreed to close this one, though its word of it is not here yet.
  if (m.generation == l.generation + 1 && l.closing && !ending_) close_link(l);
  if (m.generation != l.generation) return;
  if (!l.qp) {
    if (ending_ || !admits(l.peer)) return;
    if (!may_open(l)) {
      if (std::find(callers_.begin(), callers_.end(), &l) == callers_.end()) callers_.push_back(&l);
      return;
    }
    open(l);
  }
  if (!l.receiving) {
    l.remote_inbox = m.inbox;
    l.remote_inbox_key = m.inbox_key;
    verbs::connection c;
    c.remote_qp = m.qp_number;
    c.remote_psn = m.psn;
    c.local_psn = l.psn;
    c.path_mtu = verbs::mtu_from_bytes(chosen().mtu_bytes);
    c.path = verbs::path_to(local_port(), address_of(l.peer));
    c.timeout = settings().qp_timeout;
    c.retry = settings().qp_retry;
    l.qp->to_ready_to_receive(c);
    l.qp->to_ready_to_send(c);
    l.separate_counter = !l.qp->data_in_order(IBV_WR_RDMA_WRITE);
    l.receiving = true;
    ++opened_;
    peak_connections_ = std::max(peak_connections_, ++connections_);
  }
  if (m.hears_you != 0 && !l.closing) l.ready = true;
  if (m.wants_answer != 0) send_connect(l);
}

void connected::withdraw() noexcept {
  // What was sent before the failure is still to arrive: to the peers it may be the end of a call that was
  // right. A request that carries it is over in microseconds, if its peer is there.
  ending_ = true;
  try {
    const auto give_up = steady::now() + withdrawal_time;
    const auto under_way = [this](link* l) {
      return l->ready && l->broken.empty() && !departed(l->peer) && !drained(*l);
    };
    while (steady::now() < give_up && std::any_of(open_links_.begin(), open_links_.end(), under_way))
      clock::give_way();
  } catch (...) {
    // A queue that does not work any more has nothing to be waited for.
  }
  callers_.clear();
  while (!open_links_.empty()) close_link(*open_links_.back());
}

void connected::close() noexcept {
  dependent_objects().end();
  settle_multicasts();
  // Destroying a queue pair drops what it has not sent yet, so each connection first completes its last
  // request: a farewell, without which a peer that still sends would take the silence for a death.
  ending_ = true;
  try {
    const auto begin = attend();
    for (link* l : open_links_) {
      if (!l->ready || !l->broken.empty() || departed(l->peer) || !has_room(*l)) continue;
      std::uint64_t word = 1;
      ibv_sge source{reinterpret_cast<std::uintptr_t>(&word), sizeof word, 0};
      ibv_send_wr request{};
      request.sg_list = &source;
      request.num_sge = 1;
      request.opcode = IBV_WR_RDMA_WRITE;
      request.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
      request.wr.rdma.remote_addr = l->remote_inbox + mailbox_layout::farewell_offset;
      request.wr.rdma.rkey = l->remote_inbox_key;
      post(*l, request);
    }
    for (link* l : open_links_) {
      // The adapters settle it: what is not acknowledged fails by itself, unless ours has stopped.
      while (l->ready && l->broken.empty() && !departed(l->peer) && l->completed < l->posted &&
             attend() - begin < settings().silence) {
        read_datagrams();
        heed_farewells();
        reap();
        clock::give_way();
      }
    }
  } catch (...) {
    // The queues are destroyed next, whatever state they are in.
  }
  say_goodbye();
}

}  // namespace chorale::transport
