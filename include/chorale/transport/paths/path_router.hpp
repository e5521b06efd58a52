// Two ways to each peer, a reliable connection and datagrams, and the change from one to the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <chorale/core/lean_algorithm.hpp>
#include <chorale/transport/connections/connections.hpp>
#include <chorale/transport/connections/inbox.hpp>
#include <chorale/transport/reliable/streams.hpp>

namespace chorale::transport {

/// By which rule a rank chooses the peers that get a connection.
enum class path_choice {
  nearest,  ///< the partners of k steps of a pairwise exchange; known to both without a word
  busiest,  ///< those to whom it has sent much; both must have a place left
  asked,    ///< those an algorithm asks for by `wants_connection`; both must have a place left
};

/// The way to one peer now.
enum class path { datagrams, changing, connection };

/// Mailbox over streams of datagrams to all peers and reliable connections to at most `limit` of them.
///
/// Everything begins with datagrams. Where a peer is to have a connection, both sides keep a place for it -
/// for busiest and asked by an offer and an acceptance in the stream - and make it while datagrams go on.
/// When it is there, a rank puts a mark into its stream, waits until the mark and so all before it has been
/// delivered, and uses the connection from then on; the peer reads the connection when it has read the mark.
/// Each direction changes by itself, and order holds across the change. No way back. One thread at a time.
class path_router {
 public:
  /// A sender, and the way its message came.
  struct origin {
    int rank;
    bool by_connection;
  };

  /// Keeps the path to a peer as it is: a write that is made of several packets is under way by datagrams.
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

  /// All but `limit` and `choice` outlive it. `limit`: of connections if those are the busiest; else of steps
  /// of a pairwise exchange, which need a connection more where both that and the number of ranks are odd.
  path_router(connections& links, inbox& by_connection, reliable::streams& by_datagrams, int limit,
              path_choice choice);

  /// Most connections that this rank will have.
  [[nodiscard]] int limit() const noexcept { return limit_; }
  /// Asks for a connection to `peer`, as far as the limits of both allow. Costs nothing the second time.
  void wants_connection(int peer);
  /// The way to `to` on which `bytes` are about to be sent. @throws error errc::invalid_argument if there is
  /// no such peer.
  path way_to(int to, std::size_t bytes);

  /// Largest payload of one message, either way.
  [[nodiscard]] std::size_t block_bytes() const noexcept {
    return std::min(inbox_->block_bytes(), streams_->block_bytes());
  }
  bool try_signal(int to, call_id now);
  bool try_signalled(int from, call_id now);
  bool try_send(int to, call_id now, std::span<const std::byte> bytes);
  using shared_payload = inbox::shared_payload;
  bool try_send(int to, call_id now, shared_payload& payload);
  bool try_receive(int from, call_id now, std::span<const std::byte>& message);
  [[nodiscard]] origin sender_of(int peer) const noexcept { return {peer, last_by_connection_}; }
  void release(origin from) noexcept;
  // Datagrams have a window of their own.
  void will_answer(int from) noexcept { inbox_->will_answer(from); }
  [[nodiscard]] std::uint64_t sent_to(int to) const noexcept { return inbox_->sent_to(to); }
  void answered_by(int to, std::uint64_t messages) noexcept { inbox_->answered_by(to, messages); }
  /// True if no notice of that rank comes by datagrams any more.
  [[nodiscard]] bool notices_by_connection(int from) {
    check(from, "be notified by");
    peer_path& p = of(from);
    return p.notices_there || (p.notices_there = streams_->has_no_more_notices(from));
  }

  // What connections, and the endpoint, ask of a mechanism.
  [[nodiscard]] bool admits(int peer) const noexcept;
  void on_progress();
  void withdraw() noexcept { under_way_.clear(); }

 private:
  enum class stage : std::uint8_t {
    datagrams,   ///< no connection
    offered,     ///< a place is kept, the peer has been asked
    connecting,  ///< both have a place; the connection is being made
    marked,      ///< it is there; the mark is on its way
    connection,  ///< it is used
  };
  struct peer_path {
    stage now = stage::datagrams;
    bool offers = false;          ///< the offer has not been sent yet
    bool answers = false;         ///< ... nor the answer to the peer's
    bool accepts = false;         ///< that answer
    bool signals_there = false;   ///< a signal has come by the connection
    bool messages_there = false;  ///< no message comes by datagrams any more ...
    bool notices_there = false;   ///< ... nor a notice
    int writes = 0;               ///< under way by datagrams
    std::uint64_t messages = 0;   ///< sent by datagrams
    std::uint64_t bytes = 0;
    std::uint64_t wanted_from = 0;  ///< messages after which it is offered again
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
  inbox* inbox_;
  reliable::streams* streams_;
  int rank_;
  int ranks_;
  int limit_;
  path_choice choice_;
  std::vector<peer_path> peers_;
  std::vector<int> under_way_;  ///< peers whose path is about to change
  int places_ = 0;              ///< kept for connections
  int sent_since_look_ = 0;
  bool last_by_connection_ = false;
};

}  // namespace chorale::transport
