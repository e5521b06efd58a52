#include "multicast_queue_pair.hpp"

#include <array>

#include <chorale/core/error.hpp>

#include "../../verbs/work_completion.hpp"

namespace chorale::transport {
namespace {

/// Number of the queue pair that stands for all members of a group.
constexpr std::uint32_t all_members = 0xffffff;
/// Sends beside one of each place: repairs.
constexpr std::uint32_t spare_sends = 32;

}  // namespace

multicast_queue_pair::multicast_queue_pair(const verbs::device& device,
                                           const verbs::protection_domain& domain,
                                           const verbs::local_port& port, const options& o)
    : options_(o),
      buffer_(domain, (o.receives + o.places) * stride(), IBV_ACCESS_LOCAL_WRITE),
      last_use_(o.places, 0) {
  ibv_gid group = o.group;
  std::uint16_t lid = 0;
  verbs::local_port from = port;
  if (o.is_managed) {
    managed_.emplace(device, port, o.pkey_index, o.group, o.deadline);
    group = managed_->group();
    lid = managed_->lid();
    from.service_level = managed_->service_level();
  } else {
    interface_.emplace(device, port, o.group);
  }
  way_.emplace(domain, verbs::path_to_group(from, group, lid));
  verbs::queue_pair_options q;
  q.type = IBV_QPT_UD;
  q.send_depth = o.places + spare_sends;
  q.recv_depth = o.receives;
  send_cq_.emplace(device, static_cast<int>(q.send_depth));
  receive_cq_.emplace(device, static_cast<int>(q.recv_depth));
  q.send = &*send_cq_;
  q.recv = &*receive_cq_;
  qp_.emplace(domain, q);
  qp_->to_init({.port = port.number, .pkey_index = o.pkey_index, .access = 0, .qkey = o.qkey});
  for (std::uint32_t i = 0; i < o.receives; ++i) post_receive(i);
  qp_->to_ready_to_receive();
  qp_->to_ready_to_send(0);
  membership_.emplace(*qp_, group, lid);
}

std::span<std::byte> multicast_queue_pair::place(std::uint32_t index) const noexcept {
  return {buffer_.data() + (options_.receives + index) * stride(), options_.datagram_bytes};
}

void multicast_queue_pair::post_receive(std::uint64_t index) {
  ibv_sge room{reinterpret_cast<std::uintptr_t>(receive_place(index)),
               static_cast<std::uint32_t>(grh_bytes + options_.datagram_bytes), buffer_.lkey()};
  ibv_recv_wr request{};
  request.wr_id = index;
  request.sg_list = &room;
  request.num_sge = 1;
  qp_->post_recv(request);
}

void multicast_queue_pair::reap() {
  std::array<ibv_wc, 16> room{};
  for (const ibv_wc& wc : send_cq_->poll(room)) {
    ++completed_;
    if (wc.status != IBV_WC_SUCCESS)
      throw error(errc::completion_failed, verbs::describe(wc, "UD multicast"));
  }
}

void multicast_queue_pair::fail(const ibv_wc& wc) {
  throw error(errc::completion_failed, verbs::describe(wc, "UD multicast receive"));
}

bool multicast_queue_pair::is_free(std::uint32_t index) {
  if (last_use_[index] > completed_) reap();
  return last_use_[index] <= completed_;
}

bool multicast_queue_pair::send(std::uint32_t index, std::size_t bytes) {
  if (sent_ - completed_ >= qp_->send_depth()) reap();
  if (sent_ - completed_ >= qp_->send_depth()) return false;
  ibv_sge source{reinterpret_cast<std::uintptr_t>(place(index).data()), static_cast<std::uint32_t>(bytes),
                 buffer_.lkey()};
  ibv_send_wr request{};
  request.wr_id = sent_;
  request.sg_list = &source;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.ud.ah = way_->native();
  request.wr.ud.remote_qpn = all_members;
  request.wr.ud.remote_qkey = options_.qkey;
  qp_->post_send(request);
  last_use_[index] = ++sent_;
  return true;
}

}  // namespace chorale::transport
