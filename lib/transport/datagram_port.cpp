#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/transport/datagram_port.hpp>

#include "../verbs/work_completion.hpp"

namespace chorale::transport {

datagram_port::datagram_port(const device_port& over, const options& o) : over_(&over), options_(o) {
  const auto limit = static_cast<std::uint32_t>(over.device().attributes().max_qp_wr);
  options_.receives = std::min(options_.receives, limit);
  options_.sends = std::min(options_.sends, limit);
  buffer_.emplace(over.domain(), (options_.receives + options_.sends) * slot_bytes(), IBV_ACCESS_LOCAL_WRITE);
  send_cq_.emplace(over.device(), static_cast<int>(options_.sends));
  receive_cq_.emplace(over.device(), static_cast<int>(options_.receives), options_.channel);
  verbs::queue_pair_options q;
  q.type = IBV_QPT_UD;
  q.send = &*send_cq_;
  q.recv = &*receive_cq_;
  q.send_depth = options_.sends;
  q.recv_depth = options_.receives;
  qp_.emplace(over.domain(), q);
}

void datagram_port::open(std::uint32_t qkey) {
  qkey_ = qkey;
  qp_->to_init({.port = over_->local().number, .pkey_index = over_->pkey_index(), .access = 0, .qkey = qkey});
  for (std::uint32_t i = 0; i < options_.receives; ++i) post_receive(i);
  qp_->to_ready_to_receive();
  qp_->to_ready_to_send(0);
}

std::size_t datagram_port::slot_bytes() const noexcept {
  return (grh_bytes + options_.payload_bytes + 63) / 64 * 64;
}

std::byte* datagram_port::receive_slot(std::uint64_t index) const noexcept {
  return buffer_->data() + index * slot_bytes();
}

void datagram_port::post_receive(std::uint64_t index) {
  ibv_sge place{reinterpret_cast<std::uintptr_t>(receive_slot(index)),
                static_cast<std::uint32_t>(grh_bytes + options_.payload_bytes), buffer_->lkey()};
  ibv_recv_wr request{};
  request.wr_id = index;
  request.sg_list = &place;
  request.num_sge = 1;
  qp_->post_recv(request);
}

void datagram_port::add_peer(std::uint32_t qp_number) {
  peers_.push_back({qp_number, std::nullopt});
}

void datagram_port::reap() {
  std::array<ibv_wc, 16> room{};
  for (const ibv_wc& wc : send_cq_->poll(room)) {
    ++completed_;
    if (wc.status != IBV_WC_SUCCESS)  // flushed ones too: they show each time that nothing goes out any more
      throw error(errc::completion_failed, verbs::describe(wc, "UD send"));
  }
}

void datagram_port::fail(const ibv_wc& wc) {
  throw error(errc::completion_failed, verbs::describe(wc, "UD receive"));
}

void datagram_port::drain(clock::duration patience) {
  const auto give_up = clock::now() + patience;
  while (!is_drained() && clock::now() < give_up) clock::give_way();
}

bool datagram_port::send(int rank, std::initializer_list<std::span<const std::byte>> parts, bool solicited) {
  std::size_t bytes = 0;
  for (const auto part : parts) bytes += part.size();
  if (bytes > options_.payload_bytes) {
    throw error(errc::invalid_argument, fmt::format("datagram of {} bytes to rank {}: at most {} fit", bytes,
                                                    rank, options_.payload_bytes));
  }
  reap();
  if (sent_ - completed_ >= options_.sends) return false;
  peer& to = peers_.at(static_cast<std::size_t>(rank));
  if (!to.path) to.path.emplace(over_->domain(), over_->path_to(rank));

  std::byte* slot = receive_slot(options_.receives + sent_ % options_.sends);
  std::byte* end = slot;
  for (const auto part : parts) {
    if (!part.empty()) std::memcpy(end, part.data(), part.size());
    end += part.size();
  }
  ibv_sge source{reinterpret_cast<std::uintptr_t>(slot), static_cast<std::uint32_t>(bytes), buffer_->lkey()};
  ibv_send_wr request{};
  request.wr_id = sent_;
  request.sg_list = &source;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED | (solicited ? unsigned{IBV_SEND_SOLICITED} : 0U);
  request.wr.ud.ah = to.path->native();
  request.wr.ud.remote_qpn = to.qp_number;
  request.wr.ud.remote_qkey = qkey_;
  qp_->post_send(request);
  ++sent_;
  return true;
}

}  // namespace chorale::transport
