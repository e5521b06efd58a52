// SPDX-License-Identifier: Apache-2.0
// This rank's accesses to memory of its peers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>

#include <chorale/core/call.hpp>
#include <chorale/transport/memory/per_peer.hpp>
#include <chorale/transport/reliable/requests.hpp>

#include "packet.hpp"
#include "stream.hpp"

namespace chorale::transport::reliable {

/// Writes, reads and atomic operations in progress, and notifications of peers' writes. Tickets, never 0,
/// identify reads and atomic operations. Not thread-safe.
class memory_client {
 public:
  struct notice {
    std::uint32_t call;
    std::uint32_t signature;
  };
  /// The state of a read or an atomic operation.
  struct progress {
    bool over = false;
    int peer = -1;
    /// The reason if it was refused, otherwise null. A pointer, since returning a whole string would make
    /// each check slower.
    std::unique_ptr<std::string> refused{};
  };

  /// `room`: bytes of a packet.
  memory_client(int ranks, std::size_t room) : room_(room), peers_(ranks) {}

  // Writes.
  /// Sends as much as there is room for; true if that was everything.
  bool put(stream& to, write_request& w, call_id call, clock::time_point now);
  /// True if all puts to that rank have arrived.
  [[nodiscard]] bool has_arrived(int peer) const noexcept {
    const peer_state* const p = peers_.find(peer);
    return p == nullptr || !p->puts;
  }
  void on_arrival(const stream& to) noexcept {
    peer_state* const p = peers_.find(to.peer());
    if (p != nullptr && p->puts && to.has_arrived(p->last_put)) p->puts = false;
  }
  void on_notice(int from, notice n) { peers_.get(from).notices.push_back(n); }
  /// The oldest notification of that rank; null if there is none.
  [[nodiscard]] const notice* next_notice(int from) const noexcept {
    const peer_state* const p = peers_.find(from);
    return p == nullptr || p->notices.empty() ? nullptr : &p->notices.front();
  }
  /// Forgets it. Precondition: there is one.
  void take_notice(int from) noexcept { peers_.find(from)->notices.pop_front(); }

  // Reads and atomic operations. Precondition: the stream has room.
  std::uint32_t get(stream& from, std::uint64_t address, std::uint32_t key, std::span<std::byte> into,
                    clock::time_point now);
  std::uint32_t operate(stream& on, std::uint64_t address, std::uint32_t key, atomic_operation what,
                        std::uint64_t first, std::uint64_t second, std::uint64_t& old, clock::time_point now);
  /// The state of an operation; a finished one is forgotten. @throws std::out_of_range if there is no such
  /// ticket.
  progress finish(std::uint32_t ticket);
  void abandon(std::uint32_t ticket) noexcept { operations_.erase(ticket); }
  /// Stops writing to this rank's memory.
  void withdraw() noexcept;

  void on_reply(int from, const reply_body& b, std::span<const std::byte> payload) noexcept;
  void on_atomic_reply(int from, const atomic_reply_body& b) noexcept;
  void on_refusal(stream& from, const refusal_body& b);

 private:
  /// A read or atomic operation whose answer is incomplete.
  struct operation {
    int peer = -1;
    std::byte* into = nullptr;
    std::size_t bytes = 0;
    std::size_t received = 0;
    std::uint64_t* old = nullptr;  ///< for atomic operations
    bool done = false;
    std::string refused{};
  };
  struct peer_state {
    bool puts = false;                   ///< some puts have not arrived, all of them ...
    sequence last_put = first_sequence;  ///< ... before this packet
    std::deque<notice> notices;
  };
  /// The operation that a reply of that peer belongs to; null if there is none.
  [[nodiscard]] operation* find(int peer, std::uint32_t ticket) noexcept;
  std::uint32_t keep(operation&& o);

  std::size_t room_;
  per_peer<peer_state> peers_;
  std::map<std::uint32_t, operation> operations_;
  std::uint32_t next_ticket_ = 1;
};

}  // namespace chorale::transport::reliable
