// Completions of reliable connections, and what a rank does for them while it waits.
#include <algorithm>
#include <arpa/inet.h>

#include <fmt/format.h>

#include <chorale/transport/connected.hpp>
#include <chorale/verbs/work_completion.hpp>

namespace chorale::transport {
namespace {

constexpr int remote_access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
/// Real devices pay for inline room with work queue memory; the software device does not.
constexpr std::uint32_t inline_on_hardware = 512;
/// Completions of requests that signal besides puts, gets and atomics: two halves of each queue, a probe.
constexpr long long entries_for_each_peer = 8;
constexpr long long spare_entries = 192;

/// True if the device finds the pages of a registered region by their address at each access.
bool finds_by_address(const verbs::device& device) {
  return device.is_soft();
}

}  // namespace

joining_plan connected::plan(std::string transport, int ranks, const config& settings) {
  return {std::move(transport),
          settings,
          {.payload_bytes = 1024,
           .receives = static_cast<std::uint32_t>(std::clamp(8 * ranks, 256, 8192)),
           .sends = 64}};
}

connected::connected(joined_group&& group, const options& o)
    : endpoint(std::move(group)),
      options_(o),
      pool_(domain(), 8 * o.inbox_bytes, IBV_ACCESS_LOCAL_WRITE | remote_access),
      cache_(domain(), settings(), finds_by_address(device())),
      inline_wanted_(device().is_soft() ? o.inline_bytes : inline_on_hardware) {
  links_.resize(static_cast<std::size_t>(size()));
  const long long entries = std::min<long long>(spare_entries + o.receives + entries_for_each_peer * size(),
                                                device().attributes().max_cqe);
  cq_.emplace(device(), static_cast<int>(entries));
  most_signalled_ = static_cast<int>(spare_entries / 2);
  options_.receives = std::min(o.receives, static_cast<std::uint32_t>(device().attributes().max_srq_wr));
  srq_.emplace(domain(), options_.receives);
  if (o.receive_bytes != 0)
    receives_.emplace(domain(), options_.receives * o.receive_bytes, IBV_ACCESS_LOCAL_WRITE);
  for (std::uint32_t i = 0; i < options_.receives; ++i) post_receive(i);
}

connected::~connected() = default;

std::byte* connected::receive_buffer(std::uint64_t index) const noexcept {
  return receives_->data() + index * options_.receive_bytes;
}

void connected::post_receive(std::uint64_t index) {
  ibv_sge place{};
  ibv_recv_wr request{};
  request.wr_id = receive_mark | index;
  if (receives_) {
    place = {reinterpret_cast<std::uintptr_t>(receive_buffer(index)),
             static_cast<std::uint32_t>(options_.receive_bytes), receives_->lkey()};
    request.sg_list = &place;
    request.num_sge = 1;
  }
  srq_->post_recv(request);
}

void connected::on_message(link&, std::uint64_t index, const ibv_wc&) {
  post_receive(index);
}

void connected::reap() {
  for (;;) {
    const auto done = cq_->poll(completions_);
    for (const ibv_wc& wc : done) {
      if ((wc.wr_id & receive_mark) != 0)
        on_receive_completion(wc);
      else
        on_send_completion(wc);
    }
    if (done.size() < completions_.size()) return;
  }
}

void connected::on_send_completion(const ibv_wc& wc) {
  link* l = link_of(static_cast<int>(wc.wr_id >> 32));
  if (l == nullptr) return;
  if (wc.status == IBV_WC_SUCCESS) {
    --signalled_;
    l->completed += static_cast<std::uint32_t>(wc.wr_id) - static_cast<std::uint32_t>(l->completed);
    if (l->probe_ticket != 0 && l->completed >= l->probe_ticket) {
      l->probe_ticket = 0;
      note_life(l->peer);
    }
  } else {
    break_link(*l, verbs::describe(wc, "RDMA operation"));
  }
}

void connected::break_link(link& l, std::string why) {
  if (!l.broken.empty()) return;
  l.broken = std::move(why);
  ++broken_links_;
}

void connected::on_receive_completion(const ibv_wc& wc) {
  const auto at = link_of_qp_.find(wc.qp_num);
  // A receive that fails belongs to a connection whose requests fail as well.
  if (wc.status != IBV_WC_SUCCESS || at == link_of_qp_.end()) return;
  const std::uint64_t index = wc.wr_id & ~receive_mark;
  if (wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
    at->second->notices.push_back(ntohl(wc.imm_data));
    ++at->second->notices_received;
    post_receive(index);
  } else {
    on_message(*at->second, index, wc);
  }
}

void connected::heed_farewells() noexcept {
  for (const link* l : open_links_) {
    if (load_acquire(l->words + mailbox_layout::farewell_offset) != 0) note_departure(l->peer);
  }
}

void connected::on_progress() {
  reap();
  heed_farewells();
  if (broken_links_ > 0) {
    for (const link* l : open_links_) {
      if (!l->broken.empty() && !departed(l->peer)) lost(l->peer, l->broken);
    }
  }
  if (notifications_due_) {
    notifications_due_ = false;
    for (link* l : open_links_) {
      if (l->notification_due && l->broken.empty()) notify(*l);
    }
  }
  if (settings().connections != 0) keep_limit();
}

void connected::notify(link& l) noexcept {
  // What is given back has come by this connection, so the peer has heard that ours takes messages, though
  // its word that its own does may have been lost.
  if (!l.qp) return;
  if (!l.closing) l.ready = true;
  try {
    if (!l.closing && has_room(l)) {
      std::uint64_t count = l.released;
      ibv_sge source{reinterpret_cast<std::uintptr_t>(&count), sizeof count, 0};
      ibv_send_wr request{};
      request.sg_list = &source;
      request.num_sge = 1;
      request.opcode = IBV_WR_RDMA_WRITE;
      request.send_flags = IBV_SEND_INLINE;
      request.wr.rdma.remote_addr = l.remote_inbox + mailbox_layout::notification_offset;
      request.wr.rdma.rkey = l.remote_inbox_key;
      post(l, request);
      l.notified = count;
      l.notification_due = false;
      return;
    }
  } catch (...) {
    // A connection that refuses work has failed or will: the next wait finds out and says so.
  }
  l.notification_due = true;
  notifications_due_ = true;
}

void connected::probe(int peer, epoch now) {
  ask(peer, now);
  // Whether the peer's adapter answers shows without its CPU: an RDMA write of nothing. (A read would do as
  // well, but Soft-RoCE trips over reads among writes.)
  link* l = link_of(peer);
  if (l != nullptr && l->ready) post_probe(*l);
}

void connected::post_probe(link& l) {
  if (l.probe_ticket != 0 || !has_room(l)) return;
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma.remote_addr = l.remote_inbox;
  request.wr.rdma.rkey = l.remote_inbox_key;
  post(l, request);
  l.probe_ticket = l.posted;
  ++l.probes;
}

std::size_t connected::registered_bytes() const noexcept {
  return pool_.registered_bytes() + datagram_bytes() + (receives_ ? receives_->bytes() : 0);
}

}  // namespace chorale::transport
