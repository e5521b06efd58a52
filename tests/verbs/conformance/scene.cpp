// SPDX-License-Identifier: Apache-2.0
#include "scene.hpp"

#include <arpa/inet.h>
#include <cstring>
#include <random>

namespace conformance {

work::work(ibv_wr_opcode opcode, std::vector<ibv_sge> pieces) : pieces_(std::move(pieces)) {
  request_.wr_id = 1;
  request_.opcode = opcode;
  request_.send_flags = IBV_SEND_SIGNALED;
}

work& work::id(std::uint64_t value) {
  request_.wr_id = value;
  return *this;
}
work& work::flags(unsigned value) {
  request_.send_flags = value;
  return *this;
}
work& work::at(std::uint64_t address, std::uint32_t rkey) {
  const bool atomic =
      request_.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || request_.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  (atomic ? request_.wr.atomic.remote_addr : request_.wr.rdma.remote_addr) = address;
  (atomic ? request_.wr.atomic.rkey : request_.wr.rdma.rkey) = rkey;
  return *this;
}
work& work::immediate(std::uint32_t value) {
  request_.imm_data = htonl(value);
  return *this;
}
work& work::operands(std::uint64_t compare_or_add, std::uint64_t swap) {
  request_.wr.atomic.compare_add = compare_or_add;
  request_.wr.atomic.swap = swap;
  return *this;
}
work& work::to(const address_handle& way, std::uint32_t qpn, std::uint32_t qkey) {
  request_.wr.ud.ah = way.native();
  request_.wr.ud.remote_qpn = qpn;
  request_.wr.ud.remote_qkey = qkey;
  return *this;
}

int work::try_post(queue_pair& pair) {
  request_.sg_list = pieces_.data();
  request_.num_sge = static_cast<int>(pieces_.size());
  return pair.try_post_send(request_);
}

void work::post(queue_pair& pair) {
  REQUIRE(try_post(pair) == 0);
}

namespace {

ibv_recv_wr receive_of(std::uint64_t id, std::vector<ibv_sge>& pieces) {
  return {.wr_id = id, .next = nullptr, .sg_list = pieces.data(), .num_sge = static_cast<int>(pieces.size())};
}

}  // namespace

int try_receive(queue_pair& pair, std::uint64_t id, std::vector<ibv_sge> pieces) {
  ibv_recv_wr wanted = receive_of(id, pieces);
  return pair.try_post_recv(wanted);
}

int try_receive(shared_receive_queue& queue, std::uint64_t id, std::vector<ibv_sge> pieces) {
  ibv_recv_wr wanted = receive_of(id, pieces);
  return queue.try_post_recv(wanted);
}

void receive(queue_pair& pair, std::uint64_t id, std::vector<ibv_sge> pieces) {
  REQUIRE(try_receive(pair, id, std::move(pieces)) == 0);
}

void receive(shared_receive_queue& queue, std::uint64_t id, std::vector<ibv_sge> pieces) {
  REQUIRE(try_receive(queue, id, std::move(pieces)) == 0);
}

ibv_wc next(completion_queue& queue) {
  return test::next_completion(queue);
}

ibv_wc good(completion_queue& queue) {
  const ibv_wc done = next(queue);
  INFO(describe(done));
  REQUIRE(done.status == IBV_WC_SUCCESS);
  return done;
}

ibv_qp_state settled(const queue_pair& pair, ibv_qp_state wanted) {
  const auto end = chorale::clock::now() + 60s;
  ibv_qp_state now = pair.state();
  while (now != wanted && chorale::clock::now() < end) {
    chorale::clock::sleep_for(1ms);
    now = pair.state();
  }
  return now;
}

std::vector<ibv_wc> all_of(completion_queue& queue) {
  std::vector<ibv_wc> found;
  auto end = chorale::clock::now() + quiet;
  while (chorale::clock::now() < end) {
    ibv_wc room[16];
    const auto some = queue.poll(room);
    found.insert(found.end(), some.begin(), some.end());
    if (!some.empty())
      end = chorale::clock::now() + quiet;
    else
      chorale::clock::sleep_for(1ms);
  }
  return found;
}

namespace {

queue_pair_options options_of(const joined_options& wanted, completion_queue& queue,
                              shared_receive_queue* srq) {
  return {.type = wanted.type,
          .send = &queue,
          .recv = &queue,
          .srq = srq,
          .send_depth = wanted.send_depth,
          .recv_depth = wanted.recv_depth,
          .send_sges = wanted.sges,
          .recv_sges = wanted.sges,
          .inline_bytes = wanted.inline_bytes,
          .signal_all = wanted.signal_all};
}

}  // namespace

connection joined::details(const rig& r, const queue_pair& to, connection wanted, int mtu) {
  wanted.remote_qp = to.number();
  wanted.path_mtu = mtu_from_bytes(mtu == 0 ? r.choice.mtu_bytes : mtu);
  wanted.path = path_to(r.port, r.port.address);
  return wanted;
}

joined::joined(rig& r, joined_options options)
    : sends(r.device, options.entries),
      arrivals(r.device, options.entries, options.channel),
      left(r.domain, options_of(options, sends, nullptr)),
      right(r.domain, options_of(options, arrivals, options.srq)) {
  options.left.remote_psn = options.right.local_psn;
  options.right.remote_psn = options.left.local_psn;
  const auto up = [&](queue_pair& from, const queue_pair& to, const connection& wanted) {
    const connection peer = details(r, to, wanted, options.mtu);
    from.to_init({.port = r.port.number, .access = options.access});
    from.to_ready_to_receive(peer);
    from.to_ready_to_send(peer);
  };
  up(left, right, options.left);
  up(right, left, options.right);
}

std::uint64_t address(const rig& r, std::size_t offset) {
  return reinterpret_cast<std::uint64_t>(r.buffer.data() + offset);
}

work rdma(const rig& r, ibv_wr_opcode opcode, std::size_t offset, std::uint32_t bytes, std::size_t target) {
  return work(opcode, {r.piece(offset, bytes)}).at(address(r, target), r.buffer.rkey());
}

void fill(std::span<std::byte> memory, unsigned seed) {
  std::mt19937_64 random{seed};
  std::size_t done = 0;
  for (; done + sizeof(std::uint64_t) <= memory.size(); done += sizeof(std::uint64_t)) {
    const std::uint64_t word = random();
    std::memcpy(memory.data() + done, &word, sizeof word);
  }
  for (; done < memory.size(); ++done) memory[done] = static_cast<std::byte>(random() & 0xff);
}

}  // namespace conformance
