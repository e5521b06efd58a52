// SPDX-License-Identifier: Apache-2.0
#include "wires.hpp"

#include <array>
#include <chrono>
#include <sched.h>
#include <stdexcept>
#include <string>

#include <chorale/core/clock.hpp>

namespace points {

namespace verbs = chorale::verbs;

namespace {

constexpr std::uint32_t wire_key = 0x1ee7;
constexpr std::uint32_t there = 1U << 31;
constexpr std::size_t grh_bytes = 40;
constexpr std::size_t line = 64;

/// The description of a rank's end.
struct card {
  verbs::endpoint_address where;
};

}  // namespace

verbs::local_port port_of(communicator& control) {
  return control.transport().core().port().local();
}

void connect(verbs::queue_pair& qp, communicator& control, std::uint32_t peer,
             const verbs::endpoint_address& where, int access) {
  const auto& port = control.transport().core().port();
  const auto& settings = control.transport().settings();
  verbs::connection to;
  to.remote_qp = peer;
  to.path_mtu = verbs::mtu_from_bytes(port.mtu_bytes());
  to.path = verbs::path_to(port.local(), where);
  to.timeout = settings.qp_timeout;
  to.retry = settings.qp_retry;
  qp.to_init({.port = port.local().number,
              .pkey_index = port.local().pkey_index,
              .access = IBV_ACCESS_LOCAL_WRITE | access});
  qp.to_ready_to_receive(to);
  qp.to_ready_to_send(to);
}

wires::wires(const job& in, ibv_qp_type type, int count, std::size_t largest)
    : head_(type == IBV_QPT_UD ? grh_bytes : 0),
      stride_((head_ + largest + line - 1) / line * line),
      yields_(in.control.transport().oversubscribed()),
      completions_(in.control.transport().device(), 4 * count + 16),
      arrived_(static_cast<std::size_t>(count)) {
  auto& control = in.control;
  const auto& net = control.transport();
  const int me = control.rank();
  const auto places = static_cast<std::size_t>(count);
  std::vector<std::uint32_t> numbers(places);
  const auto port = port_of(control);
  if (me < 2) {
    memory_.emplace(net.domain(), 2 * places * stride_, IBV_ACCESS_LOCAL_WRITE);
    for (auto& number : numbers) {
      verbs::queue_pair_options wanted;
      wanted.type = type;
      wanted.send = wanted.recv = &completions_;
      wanted.send_depth = wanted.recv_depth = 4;
      wanted.signal_all = true;
      number = qps_.emplace_back(net.domain(), wanted).number();
    }
  }
  const card mine{port.address};
  const auto cards = control.allgather(mine);
  const auto all_numbers = control.allgather(numbers);
  if (me >= 2) return;
  const auto other = static_cast<std::size_t>(1 - me);
  for (std::size_t i = 0; i < places; ++i) {
    const std::uint32_t number = all_numbers[other * places + i];
    if (type == IBV_QPT_UD) {
      qps_[i].to_init({.port = port.number, .pkey_index = port.pkey_index, .qkey = wire_key});
      qps_[i].to_ready_to_receive();
      qps_[i].to_ready_to_send(0);
      way_.emplace(net.domain(), verbs::path_to(port, cards[other].where));
      peer_ = number;
    } else {
      connect(qps_[i], control, number, cards[other].where);
    }
    post_receive(i);
  }
}

std::span<std::byte> wires::outgoing(std::uint64_t number, std::size_t bytes) {
  return {memory_->data() + lane(number) * stride_, bytes};
}

void wires::post_receive(std::size_t lane) {
  std::byte* const place = memory_->data() + (qps_.size() + lane) * stride_;
  ibv_sge into{reinterpret_cast<std::uintptr_t>(place), static_cast<std::uint32_t>(stride_), memory_->lkey()};
  ibv_recv_wr request{};
  request.wr_id = lane;
  request.sg_list = &into;
  request.num_sge = 1;
  qps_[lane].post_recv(request);
}

void wires::send(std::uint64_t number, std::size_t bytes) {
  const auto from = outgoing(number, bytes);
  ibv_sge source{reinterpret_cast<std::uintptr_t>(from.data()), static_cast<std::uint32_t>(bytes),
                 memory_->lkey()};
  ibv_send_wr request{};
  request.sg_list = &source;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  if (way_) {
    request.wr.ud.ah = way_->native();
    request.wr.ud.remote_qpn = peer_;
    request.wr.ud.remote_qkey = wire_key;
  }
  qps_[lane(number)].post_send(request);
}

void wires::poll() {
  std::array<ibv_wc, 8> room;
  for (const ibv_wc& done : completions_.poll(room)) {
    if (done.status != IBV_WC_SUCCESS)
      throw std::runtime_error(
          fmt::format("a request of queue pair 0x{:x} has failed with status {} of ibv_wc_status",
                      done.qp_num, static_cast<int>(done.status)));
    if ((done.opcode & IBV_WC_RECV) != 0)
      arrived_[done.wr_id] = there | (done.byte_len - static_cast<std::uint32_t>(head_));
  }
}

void wires::receive(std::uint64_t number) {
  const std::size_t at = lane(number);
  if (arrived_[at] == 0) poll();
  const auto begin = chorale::clock::now();
  for (std::uint64_t tries = 1; arrived_[at] == 0; ++tries) {
    if (yields_ || tries % 4096 == 0) sched_yield();
    poll();
    if (tries % 65536 == 0 && chorale::clock::now() - begin > std::chrono::seconds{20})
      throw std::runtime_error(
          fmt::format("message {} did not come within 20 s: a datagram was lost, or the "
                      "peer has ended",
                      number));
  }
  taken_ = {memory_->data() + (qps_.size() + at) * stride_ + head_, arrived_[at] & ~there};
  arrived_[at] = 0;
  post_receive(at);
}

void wires::restart(int used) {
  used_ = used;
}

}  // namespace points
