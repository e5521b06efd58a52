// Which peers a rank is connected with: a state machine without a device, which is told what comes and what
// time it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <chorale/core/clock.hpp>
#include <chorale/transport/connections/ledger.hpp>

namespace chorale::transport {

/// The part of a request to connect that does not depend on the device. Either side may send it first, and
/// both at once: it says all there is to say, so the order does not matter.
struct connect_request {
  std::uint32_t generation;  ///< how often the connection has been closed before
  std::uint32_t hears_you;
  std::uint32_t wants_answer;
};

/// A request to close the connection of that generation, or the answer to it. Lost requests are repeated
/// until they are answered; all copies of a request get the same answer, agreed or refused. A rank that has
/// refused one tells by `possible` when it would not refuse it any more.
struct close_message {
  enum class verdict : std::uint32_t { request, agreed, refused, possible };
  verdict what;
  std::uint32_t generation;
  std::uint32_t attempt;
  std::uint32_t reserved;
  ledger counts;  ///< of a request or a refusal: the sender's; no meaning in the other two
};

/// What a table asks of those who have the queue pairs. Peers are ranks.
class connection_port {
 public:
  virtual void open(int peer) = 0;  ///< makes a queue pair and an inbox for the peer
  /// The queue pair takes what the peer sends from now on: its request, which is being handled, says where
  /// from.
  virtual void accept(int peer) = 0;
  virtual void close(int peer) noexcept = 0;  ///< the queue pair and the inbox go
  /// From now on this rank may, or must not, post requests to the peer.
  virtual void set_ready(int peer, bool ready) noexcept = 0;
  virtual void send(int peer, const connect_request& m) = 0;
  virtual void send(int peer, const close_message& m) = 0;
  /// True if all that was posted has been acknowledged; else sees to it that this will be known.
  virtual bool is_drained(int peer) = 0;
  [[nodiscard]] virtual ledger counts(int peer) = 0;
  /// Requests that were posted by this rank's wish, connection after connection.
  [[nodiscard]] virtual std::uint64_t used(int peer) const noexcept = 0;
  /// False if the connection is broken, or the peer has left or is dead.
  [[nodiscard]] virtual bool works(int peer) const noexcept = 0;
  [[nodiscard]] virtual bool has_left(int peer) const noexcept = 0;
  /// Whether a peer that asks for a connection may have one.
  [[nodiscard]] virtual bool admits(int peer) const noexcept = 0;

 protected:
  ~connection_port() = default;
};

/// Makes connections when they are first needed, and keeps them within a limit: when one more is needed, the
/// least recently used one is closed, if both sides agree that nothing is under way on it. A rank that asks
/// to close a connection has drained it and posts nothing more until it is answered. The peer agrees only if
/// its ledger balances with the sender's and its own requests have been acknowledged; then both destroy their
/// queue pairs, the peer at once, the rank that asked when it hears of it, by the answer or by a request to
/// connect of the next generation. A request that was refused stays refused, so that a copy of it that comes
/// late cannot close what is in use again. If both ask at once, each may agree to the other's request. A
/// connection that a rank has opened in order to send is not closed before it has sent something, or two
/// ranks with too little room could keep each other from ever sending.
///
/// A refusal carries the peer's ledger. The rank asks again when it has taken all that the peer had sent by
/// then and the peer has said `possible`: that it, too, has taken everything. If that word is lost, or the
/// request is refused once more, it asks again after a pause, which doubles up to 64 ms as long as nothing
/// more goes over the connection.
///
/// The limit is soft: a rank exceeds it where waiting for room is of no use, as soon as any peer has refused
/// a request since the wait for room began, and after `patience` where peers do not answer. It closes what is
/// too many as soon as it can.
/// Datagrams may be lost, repeated and late. No device, no clock, no socket; not thread-safe.
class connection_table {
 public:
  using time_point = clock::time_point;
  struct options {
    std::size_t limit = 0;  ///< connections that a rank keeps; 0: any number
    clock::duration patience{std::chrono::milliseconds{1}};
  };

  /// `port` outlives it.
  connection_table(connection_port& port, int ranks, options o);
  connection_table(const connection_table&) = delete;
  connection_table& operator=(const connection_table&) = delete;
  ~connection_table();

  /// This rank wants to send to the peer.
  void wish(int peer);
  /// Gets on with making a connection that is wished for; true if the peer can be sent to.
  bool advance(int peer, time_point now);
  void on_connect(int peer, const connect_request& m, time_point now);
  void on_close(int peer, const close_message& m, time_point now);
  /// Keeps the limit, repeats what was not answered. To be called often.
  void progress(time_point now);
  /// Something came by the connection that the peer sends only if it has heard that this rank receives.
  void note_heard(int peer);
  /// From now on nothing is opened for peers, and nothing is closed by agreement.
  void end() noexcept;
  /// Closes what is open, without agreement.
  void close_all() noexcept;

  /// Peers for which there is a queue pair.
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
  std::vector<std::unique_ptr<pairing>> pairings_;
  std::vector<int> open_;
  std::vector<int> callers_;  ///< peers that wait for room here
  std::uint64_t uses_ = 0;
  std::uint64_t refusals_ = 0;  ///< of requests of this rank
  bool ending_ = false;
};

}  // namespace chorale::transport
