// SPDX-License-Identifier: Apache-2.0
// An exchange in which each message is one piece together with its manifest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <chorale/algorithm/exchange/manifest.hpp>
#include <chorale/algorithm/exchange/straight.hpp>
#include <chorale/algorithm/exchange/strided_messages.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/neighbours.hpp>

namespace chorale::exchange {

/// The only message of `list` to or from `peer`, or none.
template <class Message>
[[nodiscard]] std::span<const Message> only_of(std::span<const Message> list, int peer) noexcept {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].peer == peer) return list.subspan(i, 1);
  return {};
}

/// True if a list is short, has at most one message for each peer and none for this rank, and each fits into
/// a block with its manifest, as in a shift or for the halos of a stencil.
template <mailbox_transport Net, class Message>
[[nodiscard]] bool is_in_pieces(const Net& net, std::span<const Message> list) noexcept {
  constexpr std::size_t few = 8;
  if (list.size() > few) return false;
  const std::size_t most = net.block_bytes() - exchange::manifest_bytes(2, 0);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::size_t bytes = list[i].bytes.size();
    if (list[i].peer == nobody) continue;
    if (list[i].peer == net.rank() || bytes > most || exchange::may_go_straight(net, bytes)) return false;
    if (!exchange::only_of(list.first(i), list[i].peer).empty()) return false;
  }
  return true;
}

/// The exchange of `direct` if both lists satisfy `is_in_pieces`. It sends the same messages as the general
/// one, so a peer may use either. It looks up peers in the lists instead of sorting them, and keeps no state
/// for neighbours. `piece`: memory that is kept for the next call.
template <mailbox_transport Net>
task<> in_pieces(Net& net, call_id now, std::span<const outgoing> sends, std::span<const incoming> takes,
                 std::vector<std::byte>& piece) {
  for (const outgoing& message : sends) {
    if (message.peer == nobody) continue;
    const auto back = exchange::only_of(takes, message.peer);
    const std::size_t manifest = exchange::manifest_bytes(1 + back.size(), 0);
    const std::size_t total = manifest + message.bytes.size();
    if (piece.size() < total) piece.resize(total);
    exchange::write_manifest(piece.data(), total, std::span{&message, 1}, back);
    if (!message.bytes.empty()) exchange::pack(message, 0, {piece.data() + manifest, message.bytes.size()});
    co_await net.send(message.peer, now, std::span<const std::byte>{piece.data(), total});
  }
  for (const incoming& message : takes) {
    if (message.peer == nobody) continue;
    const auto forth = exchange::only_of(sends, message.peer);
    const std::size_t manifest = exchange::manifest_bytes(1 + forth.size(), 0);
    const std::size_t total = manifest + message.bytes.size();
    const auto arrived = co_await net.receive(message.peer, now);
    const auto seen = transfer::at_least(net, message.peer, now, arrived, sizeof(manifest_header));
    expected_manifest{net.rank(), message.peer, forth, std::span{&message, 1}, seen}.compare_from(
        0, std::min(seen.size(), manifest), total);
    const auto data = transfer::exact(net, message.peer, now, arrived, total).subspan(manifest);
    if (!data.empty()) exchange::unpack(message, 0, data);
  }
}

}  // namespace chorale::exchange
