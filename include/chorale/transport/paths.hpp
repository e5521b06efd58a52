// Two ways to each peer, a reliable connection and datagrams, and the change from one to the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/transport/rc.hpp>
#include <chorale/transport/reliable/streams.hpp>

namespace chorale::transport {

/// By which rule a rank chooses the peers that get a connection.
enum class path_choice {
  nearest,  ///< the partners of the first k steps of a pairwise exchange; known to both without a word
  busiest,  ///< those to whom it has sent much; both must have a place left
  asked,    ///< those an algorithm asks for by `wants_connection`; both must have a place left
};

/// A rank with streams of datagrams to all peers and reliable connections to at most `limit` of them.
///
/// Everything begins with datagrams. Where a peer is to have a connection, both sides keep a place for it -
/// for busiest and asked by an offer and an acceptance in the stream - and make it while datagrams go on.
/// When it is there, a rank puts a mark into its stream, waits until the mark and so all before it has been
/// delivered, and uses the connection from then on; the peer reads the connection when it has read the mark.
/// Each direction changes by itself, and order holds across the change. No way back.
class paths : public rc_mailbox {
 public:
  /// A sender, and the way its message came.
  struct origin {
    int rank;
    bool by_connection;
  };

  /// Largest payload of one message, either way.
  [[nodiscard]] std::size_t block_bytes() const noexcept {
    return std::min(layout().payload_bytes(), streams_.block_bytes());
  }
  [[nodiscard]] reliable::streams& packets() noexcept { return streams_; }
  [[nodiscard]] reliable::stream_statistics statistics() const { return streams_.statistics(); }
  /// Connections and datagrams together.
  [[nodiscard]] memory_report memory() const noexcept;
  [[nodiscard]] std::size_t registered_bytes() const noexcept { return connected::registered_bytes(); }
  /// Most connections that this rank will have.
  [[nodiscard]] int limit() const noexcept { return limit_; }

  /// As of `connected`, with datagrams for messages too.
  [[nodiscard]] static joining_plan plan(std::string transport, int ranks, const config& settings);

  /// Asks for a connection to `peer`, as far as the limits of both allow. Costs nothing the second time.
  void wants_connection(int peer);

 protected:
  paths(joined_group&& group, int limit, path_choice choice);
  ~paths() override;

  enum class path { datagrams, changing, connection };
  /// The way to `to` now, on which `bytes` are about to be sent.
  path way_to(int to, std::size_t bytes);

  bool try_signal(int to, epoch now);
  bool try_signalled(int from, epoch now);
  bool try_send(int to, epoch now, std::span<const std::byte> bytes);
  bool try_receive(int from, epoch now, std::span<const std::byte>& message);
  bool try_flush(int peer);
  bool try_notified(int from, epoch now);
  [[nodiscard]] origin sender(int from) const noexcept { return {from, last_by_connection_}; }
  void release(origin from) noexcept;

  void on_progress() override;
  void withdraw() noexcept override {
    rc_mailbox::withdraw();
    streams_.withdraw();
    under_way_.clear();
  }
  std::span<const std::byte> last_words(int peer) override { return streams_.last_words(peer); }
  void on_goodbye(int from, std::span<const std::byte> body) override { streams_.on_goodbye(from, body); }
  [[nodiscard]] bool admits(int peer) const noexcept override;

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
    bool offers = false;         ///< the offer has not been sent yet
    bool answers = false;        ///< ... nor the answer to the peer's
    bool accepts = false;        ///< that answer
    bool signals_there = false;  ///< a signal has come by the connection
    std::uint64_t messages = 0;  ///< sent by datagrams
    std::uint64_t bytes = 0;
    std::uint64_t wanted_from = 0;  ///< messages after which it is offered again
  };

  [[nodiscard]] peer_path& of(int peer) noexcept { return peers_[static_cast<std::size_t>(peer)]; }
  void count(int to, std::size_t bytes);
  void offer(int peer);
  void take_news();
  void get_on(int peer);

  int limit_;
  path_choice choice_;
  std::vector<peer_path> peers_;
  std::vector<int> under_way_;  ///< peers whose path is about to change
  int places_ = 0;              ///< kept for connections
  int sent_since_look_ = 0;
  bool last_by_connection_ = false;
  reliable::streams streams_;
};

}  // namespace chorale::transport
