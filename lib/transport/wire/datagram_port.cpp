// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include <fmt/format.h>

#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/error.hpp>
#include <chorale/transport/wire/datagram_port.hpp>

#include "../../verbs/sender_of.hpp"

namespace chorale::transport {

datagram_port::datagram_port(const device_port& over, int ranks, const options& o)
    : over_(&over),
      ways_(static_cast<std::size_t>(ranks)),
      queue_(over.device(), over.domain(),
             {.datagram_bytes = o.payload_bytes,
              .receives = o.receives,
              .sends = o.sends,
              .channel = o.channel,
              .completion_vector = o.completion_vector}) {
  peers_.reserve(static_cast<std::size_t>(ranks));
}

void datagram_port::open(std::uint32_t qkey) {
  qkey_ = qkey;
  queue_.open(
      {.port = over_->local().number, .pkey_index = over_->local().pkey_index, .access = 0, .qkey = qkey});
}

void datagram_port::add_peer(std::uint32_t qp_number) {
  if (peers_.size() == ways_.size())
    throw std::out_of_range(fmt::format("a port of datagrams for {} ranks gets one more", ways_.size()));
  peers_.push_back({qp_number, over_->address_of(static_cast<int>(peers_.size())).lid});
  paths_.resize(over_->addresses().size());
}

ibv_ah* datagram_port::prepare(int rank) {
  auto& path = paths_[over_->addresses().number_of(rank)];
  if (!path) path.emplace(over_->domain(), over_->datagram_path_to(rank));
  return ways_[static_cast<std::size_t>(rank)] = path->native();
}

bool datagram_port::has_address(int rank, std::span<const std::byte> datagram) const noexcept {
  return verbs::is_from(datagram.data() - datagram_queue::grh_bytes, over_->address_of(rank).gid);
}

void datagram_port::reject(int rank, std::size_t bytes) const {
  throw error(errc::invalid_argument, fmt::format("datagram of {} bytes to rank {}: at most {} fit", bytes,
                                                  rank, queue_.datagram_bytes()));
}

void datagram_port::drain(clock::duration patience) {
  const auto give_up = clock::now() + patience;
  while (!is_drained() && clock::now() < give_up) clock::give_way();
}

bool datagram_port::send(int rank, std::initializer_list<std::span<const std::byte>> parts, bool solicited) {
  std::size_t bytes = 0;
  for (const auto part : parts) bytes += part.size();
  return send(
      rank, bytes,
      [parts](std::byte* place) {
        for (const auto part : parts) {
          if (!part.empty()) copy_bytes(place, part.data(), part.size());
          place += part.size();
        }
      },
      solicited);
}

}  // namespace chorale::transport
