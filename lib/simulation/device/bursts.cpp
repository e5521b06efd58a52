// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "fabric.hpp"
#include "queue_pair.hpp"
#include "requester.hpp"
#include "responder.hpp"

namespace chorale::simulation::device {
namespace {

/// A message whose bytes before `sent` have left.
struct sending {
  std::unique_ptr<message> m;
  outgoing burst;
  departure leaves;
  std::uint64_t sent = 0;
};

void send_burst(sending s);

/// Sends the last burst, with which the target has the whole message.
void send_last(queue_pair& qp, sending s, const arrival& when) {
  hca& nic = *s.m->on.from;
  scheduler& time = nic.owner().time();
  const duration late = nic.owner().chance().message();
  s.m->arrives = {.first = when.first + late, .last = when.last + late};
  s.m->last_burst = s.burst.bytes;
  instant arrives = std::max(s.m->arrives.first, time.now());
  const request_name name = s.m->name;
  qp.sends.in_order = arrives = std::max(arrives, qp.sends.in_order);
  time.at(arrives, [m = std::move(s.m)]() mutable { arrive(std::move(m)); });
  all_left(qp, name, s.leaves.last);
}

/// The queue pair that sends a message; nullptr if it sends nothing more: its rank has died, or its adapter
/// or its connection has failed.
queue_pair* find_sender(const message& m) noexcept {
  queue_pair* const qp = m.on.from->queue_pairs.find(m.on.source);
  return qp != nullptr && qp->sends.life == m.name.life && qp->receiving() ? qp : nullptr;
}

void send_burst(sending s) {
  queue_pair* const qp = find_sender(*s.m);
  if (qp == nullptr) return;
  hca& from = *s.m->on.from;
  hca& to = *s.m->on.to;
  fabric& all = from.owner();
  const arrival when = all.costs().carry(from.host(), to.host(), s.burst, s.leaves);
  s.sent += s.burst.bytes;
  if (s.sent >= s.m->data.size()) return send_last(*qp, std::move(s), when);
  const incoming there{.bytes = s.burst.bytes, .queue_pair = s.m->on.destination};
  all.time().at(std::max(when.first, all.time().now()),
                [&to, when, there] { to.owner().costs().receive(to.host(), when, there); });
  s.burst.bytes = std::min(s.burst.bytes, s.m->data.size() - s.sent);
  s.leaves = all.costs().send_next(from.host(), s.burst, s.leaves, when);
  const instant next = std::max(s.leaves.first, all.time().now());
  all.time().at(next, [s = std::make_unique<sending>(std::move(s))] { send_burst(std::move(*s)); });
}

}  // namespace

void send_in_bursts(std::unique_ptr<message> m, const outgoing& first, const departure& leaves) {
  m->sent = m->on.from->owner().time().now();
  if (m->on.to == nullptr) {
    queue_pair* const qp = m->on.from->queue_pairs.find(m->on.source);
    lose(*m);
    return all_left(*qp, m->name, leaves.last);
  }
  send_burst({std::move(m), first, leaves});
}

}  // namespace chorale::simulation::device
