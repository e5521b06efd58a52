// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <chorale/model/resources.hpp>

namespace chorale::model {
namespace {

constexpr std::int64_t page = 4096;
constexpr std::int64_t grh = 40;

std::int64_t up_to(std::int64_t bytes, std::int64_t unit) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

/// Every communicator on soft0 has the pipe of its completion channel, and the memory of its datagrams.
constexpr std::int64_t least_descriptors = 3;
/// The descriptor that tells the service thread to end.
constexpr std::int64_t of_service = 1;

/// The UD queue pair of every transport.
struct datagram_buffers {
  std::int64_t receives;
  std::int64_t sends;
  std::int64_t payload;
  [[nodiscard]] std::int64_t bytes() const noexcept {
    return up_to((receives + sends) * up_to(grh + payload, 64), page);
  }
};
datagram_buffers of_connections(std::int64_t ranks) noexcept {
  return {std::clamp<std::int64_t>(8 * ranks, 256, 1024), 64, 1024};
}
datagram_buffers of_streams(std::int64_t ranks, int mtu_bytes, std::int64_t sends) noexcept {
  return {std::clamp<std::int64_t>(64 * std::max<std::int64_t>(ranks - 1, 1), 256, 1024), sends,
          std::min(mtu_bytes, 4096)};
}

/// The inbox of each connected peer; inboxes are registered in slabs of eight.
std::int64_t inbox_bytes(const config& c) noexcept {
  const auto block = static_cast<std::int64_t>(c.block_bytes);
  const std::int64_t room = up_to(block, 16);
  return 128 + static_cast<std::int64_t>(c.least_blocks()) * (up_to(room, 64) + (room % page == 0 ? 64 : 0));
}
constexpr std::int64_t slab = 8;
std::int64_t slabs(std::int64_t peers) noexcept {
  return (peers + slab - 1) / slab;
}
std::int64_t inboxes_bytes(std::int64_t peers, const config& c) noexcept {
  return slabs(peers) * up_to(slab * inbox_bytes(c), page);
}
/// The receives in the shared queue: each connection posts its share of the maximum, and at least 32.
std::int64_t shared_receives(std::int64_t ranks, std::int64_t connections) noexcept {
  const std::int64_t all = std::clamp<std::int64_t>(4 * ranks, 64, 4096);
  const std::int64_t peers = std::max<std::int64_t>(ranks - 1, 1);
  return std::min(all, connections * std::max<std::int64_t>((all + peers - 1) / peers, 32));
}

}  // namespace

resources resources_of_rc(std::int64_t ranks, std::int64_t peers, const config& settings) {
  const auto port = of_connections(ranks);
  return {1 + peers, port.receives + shared_receives(ranks, peers),
          port.bytes() + inboxes_bytes(peers, settings), least_descriptors + of_service + slabs(peers)};
}

resources resources_of_ud(std::int64_t ranks, int mtu_bytes) {
  const auto port = of_streams(ranks, mtu_bytes, 128);
  return {1, port.receives, port.bytes(), least_descriptors + of_service};
}

resources resources_of_hybrid(std::int64_t ranks, std::int64_t peers, std::int64_t limit,
                              const config& settings, int mtu_bytes) {
  const auto port = of_streams(ranks, mtu_bytes, 64);
  const std::int64_t connections = std::min(peers, limit);
  return {1 + connections, port.receives + shared_receives(ranks, connections),
          port.bytes() + inboxes_bytes(connections, settings),
          least_descriptors + of_service + slabs(connections)};
}

}  // namespace chorale::model
