// The limit on connections, and closing them by agreement of both sides.
//
// A rank that asks to close a connection has drained it - all that it posted has been acknowledged - and
// posts nothing more until it is answered. It says what it has sent and received. The peer agrees only if all
// of that is what it has received and sent itself, and its own requests have been acknowledged: then nothing
// is under way in either direction, and both may destroy their queue pairs, the peer at once, the rank that
// asked when it hears of it, by the answer or by a request to connect of the next generation. A request that
// was refused stays refused, so that a copy of it that comes late cannot close what is in use again. If both
// ask at once, each may agree to the other's request: neither posts anything, so both go on to the next
// generation. A connection that a rank has opened in order to send is not closed before it has sent
// something, or two ranks with too little room could keep each other from ever sending.
#include <algorithm>
#include <cstring>
#include <utility>

#include <chorale/transport/connected.hpp>

#include "connecting.hpp"

namespace chorale::transport {
namespace {

/// How long a rank keeps to the limit though it needs one connection more; longer where the peer that has to
/// agree may have to wait for a core first.
constexpr auto patience = std::chrono::milliseconds{5};
constexpr auto oversubscribed_patience = std::chrono::milliseconds{20};
constexpr auto pause_after_refusal = std::chrono::milliseconds{1};
constexpr auto longest_interval = std::chrono::milliseconds{16};

}  // namespace

bool connected::may_open(link& l) {
  const std::size_t limit = settings().connections;
  if (limit == 0 || open_links_.size() < limit) return true;
  make_room(open_links_.size() - limit + 1);
  if (open_links_.size() < limit) return true;
  const auto now = steady::now();
  if (l.waits_for_room_since == steady::time_point{}) l.waits_for_room_since = now;
  return now - l.waits_for_room_since >= (oversubscribed() ? oversubscribed_patience : patience);
}

void connected::make_room(std::size_t wanted) {
  std::vector<link*> idle;
  const auto now = steady::now();
  for (link* l : open_links_) {
    const std::uint64_t activity = l->used() + l->received + l->notices_received +
                                   load_acquire(l->words + mailbox_layout::signal_offset);
    if (activity != l->activity) {
      l->activity = activity;
      l->last_active = ++uses_;
    }
    if (l->closing) {
      if (wanted-- == 1) return;
    } else if (l->ready && l->receiving && l->broken.empty() && !departed(l->peer) &&
               l->received == l->released && now >= l->next_attempt && !l->is_due()) {
      idle.push_back(l);
    }
  }
  std::sort(idle.begin(), idle.end(),
            [](const link* a, const link* b) { return a->last_active < b->last_active; });
  // Those that are being drained count: the next look finds them ready to be asked.
  for (std::size_t i = 0; i < std::min(wanted, idle.size()); ++i) ask_to_close(*idle[i]);
}

void connected::keep_limit() {
  const std::size_t limit = settings().connections;
  if (!callers_.empty()) {
    std::erase_if(callers_, [this](link* l) {
      if (l->qp || departed(l->peer)) return true;
      if (!may_open(*l)) return false;
      open(*l);
      send_connect(*l);
      return true;
    });
  }
  if (open_links_.size() > limit) make_room(open_links_.size() - limit);
  const auto now = steady::now();
  for (link* l : open_links_) {
    if (!l->closing || now < l->next_request) continue;
    send_close(l->peer, state_of(*l));
    l->next_request = now + l->request_interval;
    l->request_interval = std::min<steady::duration>(l->request_interval * 2, longest_interval);
  }
}

bool connected::drained(link& l) {
  reap();
  if (l.completed == l.posted) return true;
  post_probe(l);
  return false;
}

void connected::ask_to_close(link& l) {
  if (!drained(l)) return;
  l.closing = true;
  l.ready = false;
  ++l.attempt;
  l.next_request = {};
  l.request_interval = std::chrono::milliseconds{1};
}

connected::close_message connected::state_of(const link& l) const noexcept {
  close_message m{};
  m.what = close_message::verdict::request;
  m.generation = l.generation;
  m.attempt = l.attempt;
  m.sent = l.sent;
  m.received = l.received;
  m.released = l.released;
  m.signal_sent = l.signal_sent;
  m.signal_seen = load_acquire(l.words + mailbox_layout::signal_offset);
  m.notices_sent = l.notices_sent;
  m.notices_received = l.notices_received;
  return m;
}

void connected::send_close(int to, const close_message& m) {
  send_datagram(to, close_kind, std::as_bytes(std::span{&m, 1}));
}

void connected::on_close(link& l, const close_message& m) {
  using enum close_message::verdict;
  switch (m.what) {
    case request:
      answer_close(l, m);
      return;
    case agreed:
      if (l.closing && m.generation == l.generation && !ending_) close_link(l);
      return;
    case refused:
      if (!l.closing || m.generation != l.generation || m.attempt != l.attempt) return;
      l.closing = false;
      l.ready = true;
      l.next_attempt = steady::now() + pause_after_refusal;
      if (l.notification_due) notifications_due_ = true;
      return;
  }
}

void connected::answer_close(link& l, const close_message& m) {
  auto answer = m;
  if (m.generation < l.generation) {
    answer.what = close_message::verdict::agreed;
    send_close(l.peer, answer);
    return;
  }
  if (m.generation != l.generation || !l.receiving) return;
  answer.what = close_message::verdict::refused;
  if (m.attempt > l.refused) {
    reap();
    const close_message mine = state_of(l);
    const bool settled = m.sent == mine.received && m.received == mine.sent && m.released == mine.sent &&
                         mine.released == mine.received && m.signal_sent == mine.signal_seen &&
                         m.signal_seen == mine.signal_sent && m.notices_sent == mine.notices_received &&
                         m.notices_received == mine.notices_sent;
    if (settled && !l.is_due() && !ending_ && l.broken.empty()) {
      // If not, the next copy of the request finds it drained.
      if (!drained(l)) return;
      close_link(l);
      answer.what = close_message::verdict::agreed;
    } else {
      l.refused = m.attempt;
    }
  }
  send_close(l.peer, answer);
}

void connected::close_link(link& l) {
  link_of_qp_.erase(l.qp->number());
  std::erase(open_links_, &l);
  // The queue pair first: as long as it exists the peer might write into the inbox.
  l.qp.reset();
  std::memcpy(l.kept_words, l.inbox.data, sizeof l.kept_words);
  // All of either side's messages have been given back, whether or not that has been told.
  std::memcpy(l.kept_words + mailbox_layout::notification_offset, &l.sent, sizeof l.sent);
  l.notified = l.released;
  l.notification_due = false;
  l.words = l.kept_words;
  pool_.give_back(std::exchange(l.inbox, {}));
  pool_.give_back(std::exchange(l.staging, {}));
  l.receiving = false;
  l.ready = false;
  l.closing = false;
  l.wished = false;
  l.probe_ticket = 0;
  l.next_request = {};
  l.request_interval = std::chrono::milliseconds{1};
  l.next_attempt = {};
  ++l.generation;
  --connections_;
  ++closed_;
}

}  // namespace chorale::transport
