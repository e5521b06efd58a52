// SPDX-License-Identifier: Apache-2.0
// Two paths to each peer, a reliable connection and datagrams, and the switch from one to the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <chorale/core/zeroed_array.hpp>
#include <chorale/transport/connections/connections.hpp>
#include <chorale/transport/connections/rdma_mailbox.hpp>
#include <chorale/transport/reliable/streams.hpp>

namespace chorale::transport {

/// How a rank chooses the peers that get a connection.
enum class path_choice {
  nearest,  ///< the partners of k steps of a pairwise exchange; known to both without communication
  busiest,  ///< those that it has sent most to; both must have a connection left
  asked,    ///< those that an algorithm requests by `wants_connection`; both must have one left
};

/// The current path to a peer.
enum class path { datagrams, changing, connection };

/// A mailbox over datagram streams to all peers and reliable connections to at most `limit` of them.
///
/// All traffic starts with datagrams. To give a peer a connection, both sides reserve one (for `busiest` and
/// `asked`, by an offer and an acceptance in the stream) and connect while datagrams continue. Once
/// connected, a rank sends a mark in its stream, waits until the mark and therefore all earlier data has been
/// delivered, and then uses the connection; the peer reads from the connection once it has read the mark.
/// Each direction switches independently, order is preserved, and there is no switch back. Peers on a lane of
/// their own have connections from the beginning, in addition to these. One thread at a time.
class path_router {
 public:
  /// A sender, and the path of its message.
  struct origin {
    int rank;
    bool by_connection;
  };

  /// Holds the path to a peer unchanged, while a write of several packets is in progress over datagrams.
  class held_path {
   public:
    held_path() = default;
    held_path(const held_path&) = delete;
    held_path& operator=(const held_path&) = delete;
    ~held_path() { end(); }
    void begin(path_router& router, int peer) noexcept {
      writes_ = &router.of(peer).writes;
      ++*writes_;
    }
    void end() noexcept {
      if (writes_ != nullptr) --*std::exchange(writes_, nullptr);
    }

   private:
    int* writes_ = nullptr;
  };

  /// All references must outlive this. `limit`: of connections for `busiest`; otherwise of steps of a
  /// pairwise exchange, which need one connection more if both this and the number of ranks are odd.
  path_router(connections& links, rdma_mailbox& by_connection, reliable::streams& by_datagrams, int limit,
              path_choice choice);

  /// Maximum number of connections of this rank, without those to peers on a lane of their own.
  [[nodiscard]] int limit() const noexcept { return limit_; }
  /// Requests a connection to `peer`, within the limits of both. Repeated requests cost nothing.
  void wants_connection(int peer);
  /// The path for `bytes` that are about to be sent to `to`. @throws error errc::invalid_argument if there is
  /// no such peer.
  path choose_path(int to, std::size_t bytes);

  /// Largest payload of one message in bytes, on either path.
  [[nodiscard]] std::size_t block_bytes() const noexcept {
    return std::min(inbox_->block_bytes(), streams_->block_bytes());
  }
  bool try_signal(int to, call_id now);
  bool try_signalled(int from, call_id now);
  bool try_send(int to, call_id now, std::span<const std::byte> bytes);
  using shared_payload = rdma_mailbox::shared_payload;
  bool try_send(int to, call_id now, shared_payload& payload);
  bool try_receive(int from, call_id now, std::span<const std::byte>& message);
  [[nodiscard]] origin sender_of(int peer) const noexcept { return {peer, last_by_connection_}; }
  void release(origin from) noexcept;
  // For connections; datagrams have their own window.
  void will_answer(int from) noexcept { inbox_->will_answer(from); }
  [[nodiscard]] std::uint64_t sent_to(int to) const noexcept { return inbox_->sent_to(to); }
  void answered_by(int to, std::uint64_t messages) noexcept { inbox_->answered_by(to, messages); }
  /// True if no notification of that rank arrives by datagrams any more.
  [[nodiscard]] bool notices_by_connection(int from) {
    check(from, "be notified by");
    peer_path& p = of(from);
    return p.notices_there || (p.notices_there = streams_->has_no_more_notices(from));
  }

  // The interface for connections and the endpoint.
  [[nodiscard]] bool admits(int peer) const noexcept;
  void on_progress();
  void withdraw() noexcept { under_way_.clear(); }

 private:
  enum class stage : std::uint8_t {
    datagrams,   ///< no connection
    offered,     ///< a connection is reserved, the peer has been asked
    connecting,  ///< both have reserved a connection and are connecting
    marked,      ///< connected; the mark is in flight
    connection,  ///< in use
  };
  struct peer_path {
    stage now = stage::datagrams;
    bool offers = false;          ///< the offer has not been sent yet
    bool answers = false;         ///< the answer to the peer's offer has not been sent yet
    bool accepts = false;         ///< the answer is an acceptance
    bool signals_there = false;   ///< a signal has arrived by the connection
    bool messages_there = false;  ///< no more messages arrive by datagrams
    bool notices_there = false;   ///< no more notifications arrive by datagrams
    int writes = 0;               ///< writes in progress over datagrams
    std::uint64_t messages = 0;   ///< messages sent by datagrams
    std::uint64_t bytes = 0;
    std::uint64_t wanted_from = 0;  ///< number of messages after which it is offered again
  };

  [[nodiscard]] peer_path& of(int peer) noexcept { return peers_[static_cast<std::size_t>(peer)]; }
  [[nodiscard]] endpoint& owner() const noexcept { return links_->owner(); }
  void check(int peer, const char* what) const {
    if (static_cast<unsigned>(peer) >= static_cast<unsigned>(ranks_) || peer == rank_) [[unlikely]]
      reject(peer, what);
  }
  [[noreturn]] void reject(int peer, const char* what) const;
  void count(int to, std::size_t bytes);
  void offer(int peer);
  void take_news();
  void advance(int peer);

  connections* links_;
  rdma_mailbox* inbox_;
  reliable::streams* streams_;
  int rank_;
  int ranks_;
  int limit_;
  path_choice choice_;
  chorale::detail::zeroed_array<peer_path> peers_;
  std::vector<int> under_way_;  ///< peers whose path is about to switch
  int places_ = 0;              ///< reserved connections
  int sent_since_look_ = 0;
  bool last_by_connection_ = false;
};

}  // namespace chorale::transport
