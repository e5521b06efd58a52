// SPDX-License-Identifier: Apache-2.0
#include "eager_ring.hpp"

#include <cstring>

namespace chorale::transport {

void eager_ring::write(connections& links, connection& to, std::uint64_t number, std::byte* place,
                       std::size_t bytes, std::uint32_t lkey) const {
  const std::size_t total = padded(bytes) + sizeof(mailbox_trailer);
  const bool is_polled = connections::is_polled(to, total);
  const auto count = static_cast<std::uint32_t>(number + 1);
  const mailbox_trailer trailer{.bytes = static_cast<std::uint32_t>(bytes),
                                .signature = 0,
                                .call = 0,
                                .count = is_polled ? count : unseen(count, layout_.blocks())};
  std::memset(place + bytes, 0, padded(bytes) - bytes);
  std::memcpy(place + padded(bytes), &trailer, sizeof trailer);
  ibv_sge source{reinterpret_cast<std::uintptr_t>(place), static_cast<std::uint32_t>(total), lkey};
  ibv_send_wr request{};
  request.sg_list = &source;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_WRITE;
  if (source.length <= to.qp->inline_bytes()) request.send_flags = IBV_SEND_INLINE;
  request.wr.rdma.remote_addr = to.there.inbox + layout_.block_end(number) - total;
  request.wr.rdma.rkey = to.there.key;
  if (!is_polled) connections::announce(to, request, count);
  links.post(to, request);
}

void eager_ring::show(std::byte* inbox, std::uint64_t number) const noexcept {
  transport::show(inbox + layout_.block_end(number), static_cast<std::uint32_t>(number + 1));
}

eager_ring::message eager_ring::find(const std::byte* inbox, std::uint64_t number) const noexcept {
  const std::byte* end = inbox + layout_.block_end(number);
  const std::uint64_t word = load_acquire(end - sizeof(std::uint64_t));
  if (!has_arrived(word, number)) return {.is_there = is_overrun(word, number, layout_.blocks())};
  mailbox_trailer trailer;
  std::memcpy(&trailer, end - sizeof trailer, sizeof trailer);
  if (trailer.bytes > layout_.payload_bytes()) return {.is_there = true};
  return {true, {end - sizeof trailer - padded(trailer.bytes), trailer.bytes}};
}

}  // namespace chorale::transport
