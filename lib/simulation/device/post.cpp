// SPDX-License-Identifier: Apache-2.0
// ibv_post_send, ibv_post_recv, ibv_post_srq_recv: their immediate checks, and the copies of requests.
#include <algorithm>
#include <cerrno>

#include "fabric.hpp"
#include "queue_pair_faults.hpp"
#include "requester.hpp"
#include "responder.hpp"
#include "verbs.hpp"

namespace chorale::simulation::device {
namespace {

bool is_inline(const ibv_send_wr& wr) noexcept {
  return (wr.send_flags & IBV_SEND_INLINE) != 0;
}

std::uint64_t bytes_of(const ibv_send_wr& wr) noexcept {
  std::uint64_t sum = 0;
  for (int i = 0; i < wr.num_sge; ++i) sum += wr.sg_list[i].length;
  return sum;
}

/// Copies what the caller may reuse after posting.
void copy_data(const ibv_send_wr& wr, send_request& r) {
  if (r.is_inline()) {
    r.inline_data.reserve(r.bytes);
    for (int i = 0; i < wr.num_sge; ++i) {
      const auto* const first = reinterpret_cast<const std::byte*>(wr.sg_list[i].addr);
      r.inline_data.insert(r.inline_data.end(), first, first + wr.sg_list[i].length);
    }
  } else {
    r.pieces.assign(wr.sg_list, wr.sg_list + wr.num_sge);
  }
}

/// The rank to which a request goes.
int peer_of(const queue_pair& qp, const ibv_send_wr& wr) noexcept {
  if (qp.connected()) return rank_behind(qp.path.target, qp.attributes.dest_qp_num);
  const auto* const way = static_cast<const address_handle*>(wr.wr.ud.ah);
  return way == nullptr ? -1 : rank_behind(way->to.target, wr.wr.ud.remote_qpn & 0xffffffU);
}

/// `number`: of its message, for a recorder; 0 if there is none.
int post_one(queue_pair& qp, const ibv_send_wr& wr, std::uint64_t number) {
  requester& q = qp.sends;
  if (qp.state < IBV_QPS_RTS) return EINVAL;
  if (q.posted - q.retired >= qp.cap.max_send_wr) return ENOMEM;
  send_request r{};
  const auto has_atomics = [&qp] { return context::of(qp.context).profile->atomics != IBV_ATOMIC_NONE; };
  const auto take_address = [&r](const ibv_ah& ah) { r.to = static_cast<const address_handle&>(ah).to; };
  if (const int status = verbs::read_request(wr, qp.qp_type, qp.cap, has_atomics, take_address, r))
    return status;
  copy_data(wr, r);
  if (qp.state == IBV_QPS_ERR || qp.state == IBV_QPS_SQE) {
    complete(qp, r, ++q.posted, IBV_WC_WR_FLUSH_ERR);
    return 0;
  }
  r.psn = q.psn;
  if (qp.reliable()) q.psn = (q.psn + packets_of(r.bytes, qp.attributes.path_mtu)) & 0xffffffU;
  if (number != 0) {
    const scheduler& time = qp.nic->owner().time();
    r.trace = {.number = number,
               .rank = qp.rank(),
               .peer = peer_of(qp, wr),
               .thread = time.current_thread(),
               .since = time.now()};
  }
  q.queue.push_back(std::move(r));
  ++q.posted;
  return 0;
}

/// The number of queue pairs to which a core copies a request: each member of a group, and at least one.
std::size_t targets_of(const queue_pair& qp, const ibv_send_wr& wr) {
  if (qp.connected() || wr.wr.ud.ah == nullptr) return 1;
  const auto& path = static_cast<const address_handle*>(wr.wr.ud.ah)->to;
  if (!path.multicast) return 1;
  const group_table& groups = qp.nic->owner().groups();
  std::size_t members = 0;
  groups.for_each_hca(path, [&](const hca& nic) {
    if (qp.nic->owner().connects(*qp.nic, nic)) members += groups.members(path, nic).size();
  });
  return std::max<std::size_t>(1, members);
}

/// Spends the processor's time before the adapter gets the requests. @returns the number of the first
/// message, for a recorder; 0 if there is none.
std::uint64_t spend(const queue_pair& qp, const ibv_send_wr* wr) {
  fabric& all = qp.nic->owner();
  std::size_t count = 0;
  std::size_t writes = 0;  // the number of requests, unless a core copies to each target
  std::uint64_t inline_bytes = 0;
  duration copying{};
  for (const auto* one = wr; one != nullptr; one = one->next) {
    const std::size_t targets = all.copies() != nullptr ? targets_of(qp, *one) : 1;
    ++count;
    writes += targets;
    if (is_inline(*one)) inline_bytes += bytes_of(*one) * targets;
    if (all.copies() != nullptr)
      copying += all.copies()->time_for(*one, all.time().core_of(qp.rank())) * static_cast<int>(targets);
  }
  const duration time = copying + all.costs().post(writes, qp.connected() ? 0 : writes, inline_bytes);
  std::uint64_t first = 0;
  if (recorder* const notes = all.time().recording(); notes != nullptr && wr != nullptr) [[unlikely]] {
    first = notes->take_numbers(count);
    std::uint64_t bytes = 0;
    for (const auto* one = wr; one != nullptr; one = one->next) bytes += bytes_of(*one);
    all.time().charge(time,
                      {.what = activity::post, .peer = peer_of(qp, *wr), .bytes = bytes, .message = first});
  } else {
    all.time().charge(time);
  }
  all.time().settle(fabric::least_turn);
  return first;
}

int post_all(context& c, receive_queue& queue, ibv_recv_wr* wr, ibv_recv_wr** bad) noexcept {
  fabric& all = c.nic->owner();
  std::size_t count = 0;
  for (const ibv_recv_wr* one = wr; one != nullptr; one = one->next) ++count;
  all.time().charge(all.costs().post_receives(count), activity::post_receive);
  all.time().settle(fabric::least_turn);
  int status = 0;
  for (; wr != nullptr; wr = wr->next) {
    if (wr->num_sge < 0 || static_cast<std::uint32_t>(wr->num_sge) > queue.max_sge)
      status = EINVAL;
    else if (queue.posted.size() + queue.unpolled >= queue.max_wr)
      status = ENOMEM;
    else
      try {
        queue.posted.push_back({wr->wr_id, {wr->sg_list, wr->sg_list + wr->num_sge}});
      } catch (...) {
        status = ENOMEM;
      }
    if (status == 0) continue;
    if (bad != nullptr) *bad = wr;
    break;
  }
  return status;
}

}  // namespace

int post_send(ibv_qp* base, ibv_send_wr* wr, ibv_send_wr** bad) noexcept {
  auto& qp = static_cast<queue_pair&>(*base);
  int status = 0;
  try {
    std::uint64_t number = spend(qp, wr);
    for (; wr != nullptr && status == 0; wr = status == 0 ? wr->next : wr) {
      status = post_one(qp, *wr, number);
      if (number != 0) ++number;
    }
    send_on(qp);
  } catch (...) {
    status = ENOMEM;
  }
  if (status != 0 && bad != nullptr) *bad = wr;
  return status;
}

int post_recv(ibv_qp* base, ibv_recv_wr* wr, ibv_recv_wr** bad) noexcept {
  auto& qp = static_cast<queue_pair&>(*base);
  if (qp.srq != nullptr || qp.state == IBV_QPS_RESET) {
    if (bad != nullptr) *bad = wr;
    return EINVAL;
  }
  const int status = post_all(context::of(qp.context), qp.receives, wr, bad);
  if (qp.state == IBV_QPS_ERR) flush_receives(qp);
  return status;
}

int post_srq_recv(ibv_srq* base, ibv_recv_wr* wr, ibv_recv_wr** bad) noexcept {
  auto& srq = static_cast<shared_receive_queue&>(*base);
  return post_all(context::of(srq.context), srq.receives, wr, bad);
}

}  // namespace chorale::simulation::device
