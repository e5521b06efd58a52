// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include <chorale/transport/connections/connection_table.hpp>

namespace chorale::transport {
namespace {

constexpr clock::duration first_interval = std::chrono::milliseconds{1};
constexpr clock::duration longest_connect_interval = std::chrono::milliseconds{64};
constexpr clock::duration longest_close_interval = std::chrono::milliseconds{16};
constexpr clock::duration first_pause = std::chrono::milliseconds{1};
constexpr clock::duration longest_pause = std::chrono::milliseconds{64};

}  // namespace

/// The state of the connection between this rank and one peer. Lives as long as the table.
struct connection_table::pairing {
  int peer = -1;
  bool is_open = false;    ///< there is a queue pair here
  bool receives = false;   ///< ... and it receives from the peer
  bool ready = false;      ///< the peer's queue pair receives from this rank, and this rank may send
  bool closing = false;    ///< this rank has asked to close, and posts nothing until it is answered
  bool requested = false;  ///< this rank needs the connection for sending
  std::uint32_t generation = 0;
  std::uint32_t attempt = 0;  ///< number of this rank's last request to close
  std::uint32_t refused = 0;  ///< number of the peer's last request that was refused
  time_point next_request{};  ///< time to repeat a request to connect or close
  clock::duration interval = first_interval;
  /// A refusal that this rank has received.
  struct {
    bool stands = false;
    bool possible = false;  ///< the peer would agree now
    bool hurried = false;   ///< it answers a request made after the peer's `possible`
    ledger theirs{};        ///< the peer's ledger at the refusal
    time_point until{};     ///< when to ask again in any case
    clock::duration pause = first_pause;
  } refusal{};
  /// A request of the peer that is unanswered, or was refused and may be revised.
  std::optional<close_message> held{};
  struct {
    time_point since{};
    std::uint64_t refusals = 0;  ///< refusals that this rank had received by then
  } wait_for_room{};
  /// Whether a request to close has a chance. `mine`: this rank's ledger.
  [[nodiscard]] bool may_be_asked_for(const ledger& mine, time_point now) const noexcept {
    if (!refusal.stands || now >= refusal.until) return true;
    // Asking twice in a row would disturb a connection in use.
    return refusal.possible && !refusal.hurried && mine.has_taken(refusal.theirs);
  }
  struct {
    std::uint64_t before = 0;    ///< `connection_port::used` at opening
    std::uint64_t activity = 0;  ///< at the last check
    std::uint64_t last = 0;      ///< when `activity` last changed, in units of `uses_`
  } use{};
};

connection_table::connection_table(connection_port& port, int ranks, options o)
    : port_(&port), options_(o), pairings_(ranks) {}

connection_table::~connection_table() = default;

connection_table::pairing& connection_table::known(int peer) {
  return pairings_.get(peer, peer);
}

void connection_table::request(int peer) {
  known(peer).requested = true;
}

bool connection_table::is_due(const pairing& p) const noexcept {
  return p.requested && port_->used(p.peer) == p.use.before;
}

void connection_table::set_ready(pairing& p, bool ready) {
  p.ready = ready;
  port_->set_ready(p.peer, ready);
}

void connection_table::note_heard(int peer) {
  pairing& p = known(peer);
  if (p.is_open && !p.closing && !p.ready) set_ready(p, true);
}

bool connection_table::advance(int peer, time_point now) {
  pairing& p = known(peer);
  if (p.ready) return true;
  if (p.closing) return false;
  if (!p.is_open) {
    if (!may_open(p, now)) return false;
    open(p);
  }
  ask_to_connect(p, now);
  return false;
}

void connection_table::ask_to_connect(pairing& p, time_point now) {
  if (now < p.next_request) return;
  send_connect(p);
  p.next_request = now + p.interval;
  p.interval = std::min(p.interval * 2, longest_connect_interval);
}

void connection_table::on_connect(int peer, const connect_request& m, time_point now) {
  pairing& p = known(peer);
  // The peer is one generation ahead: it has agreed to close this connection, though its answer has not
  // arrived yet.
  if (m.generation == p.generation + 1 && p.closing) close(p);
  if (m.generation != p.generation) return;
  if (!p.is_open) {
    if (ending_ || !port_->admits(peer)) return;
    if (!may_open(p, now)) {
      if (std::find(callers_.begin(), callers_.end(), peer) == callers_.end()) callers_.push_back(peer);
      return;
    }
    open(p);
  }
  if (!p.receives) {
    port_->accept(peer);
    p.receives = true;
  }
  if (m.hears_you != 0 && !p.closing && !p.ready) set_ready(p, true);
  if (m.wants_answer != 0) send_connect(p);
}

void connection_table::send_connect(pairing& p) {
  port_->send(p.peer, connect_request{p.generation, p.receives ? 1U : 0U, p.ready || p.closing ? 0U : 1U});
}

bool connection_table::may_open(pairing& p, time_point now) {
  const std::size_t limit = options_.limit;
  auto& wait = p.wait_for_room;
  if (limit == 0 || open_.size() < limit || !make_room(open_.size() - limit + 1, now)) {
    wait = {};
    return true;
  }
  if (wait.since == time_point{}) wait = {now, refusals_};
  return refusals_ != wait.refusals || now - wait.since >= options_.patience;
}

void connection_table::open(pairing& p) {
  // First, so that `close_all` finds the connection if `open` throws.
  open_.push_back(p.peer);
  try {
    port_->open(p.peer);
  } catch (...) {
    open_.pop_back();
    throw;
  }
  p.is_open = true;
  p.use.before = port_->used(p.peer);
  p.use.last = ++uses_;
}

void connection_table::close(pairing& p) noexcept {
  std::erase(open_, p.peer);
  p.is_open = p.receives = p.ready = p.closing = p.requested = false;
  p.next_request = {};
  p.interval = first_interval;
  p.refusal = {};
  p.held.reset();
  ++p.generation;
  port_->close(p.peer);
}

/// Asks idle connections to close. False if none is closing or could be closed, so that waiting is futile.
bool connection_table::make_room(std::size_t wanted, time_point now) {
  std::vector<pairing*> idle;
  bool may_come = false;
  for (const int peer : open_) {
    pairing& p = known(peer);
    const ledger l = port_->counts(peer);
    const std::uint64_t activity = port_->used(peer) + l.received + l.notices_received + l.signal_seen;
    if (activity != p.use.activity) {
      p.use.activity = activity;
      p.use.last = ++uses_;
      p.refusal.pause = first_pause;
    }
    if (!port_->works(peer)) continue;
    if (p.closing) {
      may_come = true;
      if (wanted-- == 1) return true;
    } else if (!p.ready) {
      // The peer's announcement that it receives was lost, and neither side sends: the connection cannot be
      // closed before that announcement arrives.
      ask_to_connect(p, now);
      may_come = true;
    } else if (p.receives && l.received == l.released && !is_due(p) && p.may_be_asked_for(l, now)) {
      idle.push_back(&p);
    }
  }
  std::sort(idle.begin(), idle.end(),
            [](const pairing* a, const pairing* b) { return a->use.last < b->use.last; });
  // Includes connections being drained: the next check finds them ready to be asked.
  for (std::size_t i = 0; i < std::min(wanted, idle.size()); ++i) ask_to_close(*idle[i], now);
  return may_come || !idle.empty();
}

void connection_table::serve_callers(time_point now) {
  // Opening a connection for one peer may close another, so take the list first.
  for (const int peer : std::exchange(callers_, {})) {
    pairing& p = known(peer);
    if (p.is_open || port_->has_left(peer)) continue;
    if (may_open(p, now)) {
      open(p);
      send_connect(p);
    } else {
      callers_.push_back(peer);
    }
  }
}

void connection_table::progress(time_point now) {
  if (options_.limit == 0) return;
  if (!ending_) keep_limit(now);
  for (const int peer : open_) {
    pairing& p = known(peer);
    if (!p.closing || now < p.next_request) continue;
    send_close(p);
    p.next_request = now + p.interval;
    p.interval = std::min(p.interval * 2, longest_close_interval);
  }
}

void connection_table::keep_limit(time_point now) {
  if (!callers_.empty()) serve_callers(now);
  // Answering may close a connection.
  for (std::size_t i = open_.size(); i-- > 0;)
    if (pairing& p = known(open_[i]); p.held) answer_later(p);
  if (open_.size() > options_.limit) static_cast<void>(make_room(open_.size() - options_.limit, now));
}

void connection_table::ask_to_close(pairing& p, time_point now) {
  if (!port_->is_drained(p.peer)) return;
  p.closing = true;
  set_ready(p, false);
  p.refusal.hurried = p.refusal.stands && now < p.refusal.until;
  p.refusal.stands = p.refusal.possible = false;
  ++p.attempt;
  p.next_request = {};
  p.interval = first_interval;
}

void connection_table::send_close(pairing& p) {
  port_->send(p.peer, close_message{close_message::verdict::request, p.generation, p.attempt, 0,
                                    port_->counts(p.peer)});
}

void connection_table::on_close(int peer, const close_message& m, time_point now) {
  pairing& p = known(peer);
  switch (m.what) {
    case close_message::verdict::request:
      answer_close(p, m);
      return;
    case close_message::verdict::agreed:
      if (p.closing && m.generation == p.generation) close(p);
      return;
    case close_message::verdict::refused:
      if (!p.closing || m.generation != p.generation || m.attempt != p.attempt) return;
      ++refusals_;
      p.closing = false;
      set_ready(p, true);
      p.refusal.stands = true;
      p.refusal.theirs = m.counts;
      p.refusal.until = now + p.refusal.pause;
      p.refusal.pause = std::min(p.refusal.pause * 2, longest_pause);
      return;
    case close_message::verdict::possible:
      if (m.generation == p.generation && m.attempt == p.attempt) p.refusal.possible = true;
      return;
  }
}

void connection_table::answer_close(pairing& p, const close_message& m) {
  auto answer = m;
  answer.what = close_message::verdict::agreed;
  if (m.generation < p.generation) return port_->send(p.peer, answer);
  if (m.generation != p.generation || !p.receives) return;
  answer.what = close_message::verdict::refused;
  answer.counts = port_->counts(p.peer);
  if (m.attempt > p.refused) {
    p.held = m;
    if (!ending_ && !is_due(p) && port_->works(p.peer) && answer.counts.balances(m.counts)) {
      if (!port_->is_drained(p.peer)) return;
      close(p);
      answer.what = close_message::verdict::agreed;
    } else {
      p.refused = m.attempt;
    }
  }
  port_->send(p.peer, answer);
}

/// Answers a request that could not be answered yet, or was refused.
void connection_table::answer_later(pairing& p) {
  const close_message m = *p.held;
  if (m.attempt > p.refused) return answer_close(p, m);
  if (is_due(p) || !port_->works(p.peer) || !port_->counts(p.peer).has_taken(m.counts) ||
      !port_->is_drained(p.peer))
    return;
  p.held.reset();
  auto word = m;
  word.what = close_message::verdict::possible;
  port_->send(p.peer, word);
}

bool connection_table::awaits_answer(int peer) const noexcept {
  const pairing* const p = pairings_.find(peer);
  return p != nullptr && p->closing;
}

void connection_table::end() noexcept {
  ending_ = true;
  callers_.clear();
}

void connection_table::close_all() noexcept {
  end();
  while (!open_.empty()) close(known(open_.back()));
}

}  // namespace chorale::transport
