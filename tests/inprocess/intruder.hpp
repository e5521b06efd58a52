// SPDX-License-Identifier: Apache-2.0
// Sends handcrafted datagrams to the ranks of a group.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <span>
#include <vector>

#include <chorale/core/clock.hpp>
#include <chorale/transport/endpoint/endpoint.hpp>
#include <chorale/transport/endpoint/multicast_group.hpp>
#include <chorale/verbs/address.hpp>
#include <chorale/verbs/address_handle.hpp>

#include "../../lib/transport/group/membership.hpp"
#include "../../lib/transport/reliable/packet.hpp"
#include "../../lib/transport/wire/messages.hpp"

namespace inprocess {

using chorale::transport::datagram_header;
using chorale::transport::datagram_port;
using chorale::transport::device_port;
using chorale::transport::endpoint;

constexpr auto packet_kind = static_cast<std::uint16_t>(chorale::transport::reliable::stream_kind::packet);

inline std::uint64_t secret_of(const endpoint& rank) {
  return rank.members().numbers().secret;
}
inline std::uint64_t multicast_secret_of(const endpoint& rank) {
  return rank.members().numbers().multicast_secret;
}
inline std::uint32_t qkey_of(const endpoint& rank) {
  return rank.members().numbers().qkey;
}

/// Sends to the datagram ports of a group whose secret and keys it knows: through a queue pair that the ranks
/// do not know, or through that of a rank.
class intruder {
 public:
  /// `qkey_error`: added to the Q_Key of datagrams sent through the unknown queue pair.
  explicit intruder(endpoint& self, std::uint32_t qkey_error = 0)
      : self_(self),
        device_(self.port().opened(), self.port().local()),
        port_(device_, self.size(), {.payload_bytes = self.channel().port().payload_bytes()}) {
    port_.open(qkey_of(self) ^ qkey_error);
  }
  /// Learns the queue pair of the next rank, from rank 0.
  void meet(const endpoint& rank) {
    device_.add_peer(rank.port().local().address);
    port_.add_peer(rank.channel().port().number());
  }
  /// Sends through the unknown queue pair.
  void send(int to, std::span<const std::byte> bytes) {
    while (!port_.send(to, {bytes})) chorale::clock::give_way();
    pause();
  }
  /// Sends as its rank, on whose thread it runs, or which has a service thread.
  void send_as_rank(int to, std::span<const std::byte> bytes) {
    datagram_port& port = self_.channel().port();
    const auto is_sent = [&] {
      const std::lock_guard hold{self_.channel().lock()};
      return port.send(to, {bytes});
    };
    while (!is_sent()) {
      chorale::clock::give_way();
      self_.channel().poll_sends();
    }
    pause();
  }
  /// Sends to the multicast group, as its rank or through the unknown queue pair.
  void multicast(std::span<const std::byte> bytes, bool as_rank) {
    constexpr std::uint32_t all_members = 0xffffff;
    const std::lock_guard hold{self_.channel().lock()};
    auto& group = self_.multicast().group();
    const chorale::verbs::address_handle way{
        self_.port().domain(), chorale::verbs::path_to_group(self_.port().datagrams(), group.group())};
    auto& by = as_rank ? self_.channel().port().queue() : port_.queue();
    const auto finish = [&by] {
      for (by.reap(); by.completed() != by.sent(); by.reap()) chorale::clock::give_way();
    };
    finish();
    std::memcpy(port_.queue().place(0), bytes.data(), bytes.size());
    by.send(port_.queue().content(0, bytes.size()), {way.native(), all_members, group.qkey()}, false);
    finish();
  }
  [[nodiscard]] const endpoint& self() const { return self_; }
  void drain() { port_.drain(std::chrono::seconds{5}); }

 private:
  /// Without pauses, a flooded queue only loses datagrams, which are retransmitted.
  void pause() {
    if (++sent_ % 16 == 0) chorale::clock::sleep_for(std::chrono::microseconds{200});
  }

  endpoint& self_;
  device_port device_;
  datagram_port port_;
  int sent_ = 0;
};

/// The bytes of a datagram on the wire.
inline std::vector<std::byte> datagram(std::uint64_t secret, int source, std::uint16_t kind,
                                       std::span<const std::byte> body, std::int64_t claimed = -1) {
  const datagram_header head{
      datagram_header::expected_magic,
      kind,
      0,
      secret,
      source,
      static_cast<std::uint32_t>(claimed < 0 ? static_cast<std::int64_t>(body.size()) : claimed)};
  std::vector<std::byte> bytes(sizeof head + body.size());
  std::memcpy(bytes.data(), &head, sizeof head);
  if (!body.empty()) std::memcpy(bytes.data() + sizeof head, body.data(), body.size());
  return bytes;
}

}  // namespace inprocess
