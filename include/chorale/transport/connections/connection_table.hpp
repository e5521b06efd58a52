// SPDX-License-Identifier: Apache-2.0
// Which peers a rank is connected to: a sans-I/O state machine driven by messages and times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <chorale/core/clock.hpp>
#include <chorale/transport/memory/per_peer.hpp>

namespace chorale::transport {

/// What one side has sent and received on a connection and its predecessors. Sent as raw bytes.
struct ledger {
  std::uint64_t sent;      ///< messages
  std::uint64_t received;  ///< messages received from the peer
  std::uint64_t released;  ///< ... and released
  std::uint64_t signal_sent;
  std::uint64_t signal_seen;
  std::uint64_t notices_sent;
  std::uint64_t notices_received;

  /// True if nothing is in flight between the two sides, in either direction.
  [[nodiscard]] constexpr bool balances(const ledger& theirs) const noexcept {
    return theirs.sent == received && theirs.received == sent && theirs.released == sent &&
           released == theirs.sent && theirs.signal_sent == signal_seen &&
           theirs.signal_seen == signal_sent && theirs.notices_sent == notices_received &&
           theirs.notices_received == notices_sent;
  }
  /// True if this side has received and released everything that the other had sent by then.
  [[nodiscard]] constexpr bool has_taken(const ledger& theirs) const noexcept {
    return released >= theirs.sent && signal_seen >= theirs.signal_sent &&
           notices_received >= theirs.notices_sent;
  }
};

/// The device-independent part of a connect request. Either side may send it first, or both at once: it is
/// self-contained, so the order does not matter.
struct connect_request {
  std::uint32_t generation;  ///< number of times the connection has been closed before
  std::uint32_t hears_you;
  std::uint32_t wants_answer;
};

/// A request to close the connection of that generation, or the answer to it. Lost requests are retransmitted
/// until answered; all copies of a request get the same answer, agreed or refused. A rank that has refused
/// one announces with `possible` when it would agree.
struct close_message {
  enum class verdict : std::uint32_t { request, agreed, refused, possible };
  verdict what;
  std::uint32_t generation;
  std::uint32_t attempt;
  std::uint32_t reserved;
  ledger counts;  ///< of a request or refusal: the sender's; unused in the other two
};

/// What a table requires of the owner of the queue pairs. Peers are identified by rank.
class connection_port {
 public:
  virtual void open(int peer) = 0;  ///< makes a queue pair and an inbox for the peer
  /// Makes the queue pair receive from the peer; the peer's connect request, which is being handled, has its
  /// address.
  virtual void accept(int peer) = 0;
  virtual void close(int peer) noexcept = 0;  ///< destroys the queue pair and the inbox
  /// Says whether this rank may post requests to the peer from now on.
  virtual void set_ready(int peer, bool ready) noexcept = 0;
  virtual void send(int peer, const connect_request& m) = 0;
  virtual void send(int peer, const close_message& m) = 0;
  /// True if all posted requests have been acknowledged; otherwise ensures that this will become known.
  virtual bool is_drained(int peer) = 0;
  [[nodiscard]] virtual ledger counts(int peer) = 0;
  /// Number of requests that this rank itself has posted, summed over successive connections.
  [[nodiscard]] virtual std::uint64_t used(int peer) const noexcept = 0;
  /// False if the connection is broken, or the peer has left or is dead.
  [[nodiscard]] virtual bool works(int peer) const noexcept = 0;
  [[nodiscard]] virtual bool has_left(int peer) const noexcept = 0;
  /// Whether a peer that requests a connection may have one.
  [[nodiscard]] virtual bool admits(int peer) const noexcept = 0;

 protected:
  ~connection_port() = default;
};

/// Makes connections at first use and keeps them within a limit: when another one is needed, the least
/// recently used connection is evicted, if both sides agree that nothing is in flight on it. A rank that asks
/// to close a connection has drained it and posts nothing more until it is answered. The peer agrees only if
/// its ledger balances with the sender's and its own requests have been acknowledged. Then both destroy their
/// queue pairs: the peer at once, the requester when it learns of it, through the answer or a connect request
/// of the next generation. A refused request stays refused, so that a late copy of it cannot close a
/// connection that is in use again. If both ask at once, each may agree to the other's request. A connection
/// that a rank has opened in order to send is not closed before it has sent something; otherwise two ranks
/// with too little room could keep each other from ever sending.
///
/// A refusal carries the peer's ledger. The requester asks again once it has received everything that the
/// peer had sent by then and the peer has said `possible`, meaning that it, too, has received everything. If
/// `possible` is lost, or the request is refused again, it asks again after a pause, which doubles up to 64
/// ms while nothing more moves on the connection.
///
/// The limit is soft: a rank exceeds it if waiting for room is futile, that is, as soon as any peer has
/// refused a request since the wait for room began, or after `patience` if peers do not answer. It closes the
/// excess connections as soon as it can. Tolerates lost, duplicated and late datagrams. Not thread-safe.
class connection_table {
 public:
  using time_point = clock::time_point;
  struct options {
    std::size_t limit = 0;  ///< limit of open connections; 0: none
    clock::duration patience{std::chrono::milliseconds{1}};
  };

  /// `port` must outlive this.
  connection_table(connection_port& port, int ranks, options o);
  connection_table(const connection_table&) = delete;
  connection_table& operator=(const connection_table&) = delete;
  ~connection_table();

  /// Requests a connection for sending to the peer.
  void request(int peer);
  /// Advances a requested connection; true if the peer can be sent to.
  bool advance(int peer, time_point now);
  void on_connect(int peer, const connect_request& m, time_point now);
  void on_close(int peer, const close_message& m, time_point now);
  /// Enforces the limit and retransmits unanswered requests. Call it often.
  void progress(time_point now);
  /// A message arrived that the peer sends only once it knows that this rank's queue pair can receive.
  void note_heard(int peer);
  /// Stops opening connections for peers, and agreeing to close them. Peers may still close what this rank
  /// has asked them to.
  void end() noexcept;
  /// Closes all open connections without agreement.
  void close_all() noexcept;

  /// True if this rank has asked `peer` to close their connection, and has no answer yet.
  [[nodiscard]] bool awaits_answer(int peer) const noexcept;
  /// Peers that have a queue pair.
  [[nodiscard]] const std::vector<int>& open_peers() const noexcept { return open_; }

 private:
  struct pairing;

  pairing& known(int peer);
  bool may_open(pairing& p, time_point now);
  void open(pairing& p);
  void close(pairing& p) noexcept;
  bool make_room(std::size_t wanted, time_point now);
  void serve_callers(time_point now);
  void keep_limit(time_point now);
  void ask_to_connect(pairing& p, time_point now);
  void ask_to_close(pairing& p, time_point now);
  void answer_close(pairing& p, const close_message& m);
  void answer_later(pairing& p);
  void send_connect(pairing& p);
  void send_close(pairing& p);
  void set_ready(pairing& p, bool ready);
  [[nodiscard]] bool is_due(const pairing& p) const noexcept;

  connection_port* port_;
  options options_;
  per_peer<pairing> pairings_;
  std::vector<int> open_;
  std::vector<int> callers_;  ///< peers that wait for room here
  std::uint64_t uses_ = 0;
  std::uint64_t refusals_ = 0;  ///< refusals of this rank's requests
  bool ending_ = false;
};

}  // namespace chorale::transport
