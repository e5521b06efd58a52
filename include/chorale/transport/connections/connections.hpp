// The reliable connections of a rank: queue pairs, their completions, their end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <chorale/core/clock.hpp>
#include <chorale/transport/connections/connection.hpp>
#include <chorale/transport/connections/connection_table.hpp>
#include <chorale/transport/connections/receive_queue.hpp>
#include <chorale/transport/device_port.hpp>
#include <chorale/transport/endpoint.hpp>
#include <chorale/transport/memory_report.hpp>
#include <chorale/verbs/completion_queue.hpp>

namespace chorale::transport {

/// What connections ask of the mechanisms that send over them.
class connection_user {
 public:
  virtual void on_accepted(connection&) = 0;         ///< the queue pair is connected with the peer's
  virtual void on_closed(connection&) noexcept = 0;  ///< its words have been kept; the inbox goes next
  /// Immediate data came, behind what was written with it.
  virtual void on_notice(connection& from, std::uint32_t word) = 0;
  /// A message came into receive block `index`, which must be posted again.
  virtual void on_message(connection& from, std::uint64_t index, const ibv_wc& wc) = 0;
  /// Adds what the mechanism has counted of a peer.
  virtual void count(int peer, ledger& l) const noexcept = 0;
  /// Whether a peer that asks for a connection may have one.
  [[nodiscard]] virtual bool admits(int peer) const noexcept = 0;

 protected:
  ~connection_user() = default;
};

/// One RC queue pair for each peer that is really talked to, made when it is first needed, all on one
/// completion queue and one shared receive queue; within the limit of config::connections, as
/// `connection_table` has it. What closing costs: making and closing take the peer's attention, so that a
/// rank which computes outside of calls can keep others waiting until it makes its next call; and the death
/// of a rank of another host is noticed by its silence only while nobody is connected to it.
class connections final : private connection_port {
 public:
  /// Most bytes of one request: devices take at most 2 GiB.
  static constexpr std::size_t largest_request = std::size_t{1} << 30;

  struct options {
    std::size_t limit = 0;           ///< as config::connections
    std::size_t inbox_bytes = 0;     ///< written by the peer, one for each connection
    std::size_t receive_bytes = 0;   ///< of one receive; 0 for receives that only carry immediate data
    std::uint32_t receives = 0;      ///< that wait on the shared receive queue
    bool posts_receives = true;      ///< all at once, and again; else the mechanism posts its own
    std::uint32_t inline_bytes = 0;  ///< that a request should be able to carry, on the software device
  };
  struct statistics {
    int connected = 0;
    int most_connected = 0;
    std::uint64_t opened = 0;
    std::uint64_t closed = 0;
  };

  /// How a transport whose data goes by connections joins: datagrams are for connections and questions alone.
  [[nodiscard]] static joining_plan plan(std::string transport, int ranks, const config& settings);

  /// `over`: the device port that they use. `number`: of these among all connections of the transport, the
  /// same on all ranks, below 24. The references outlive it. @throws error as the verbs objects.
  connections(endpoint& owner, const device_port& over, connection_user& user, const options& o,
              std::uint16_t number = 0);
  connections(const connections&) = delete;
  connections& operator=(const connections&) = delete;
  ~connections();

  /// Of a peer that was talked to; else null.
  [[nodiscard]] connection* find(int peer) const noexcept { return peers_.find(peer); }
  connection& get(int peer);
  /// @throws error errc::invalid_argument if this rank cannot talk to `peer`: there is none, or it is itself.
  void require_peer(int peer) const;
  /// Gets on with making a connection; true if the peer can be sent to. @throws error
  /// errc::invalid_argument if there is no such peer.
  bool connect(int peer);
  /// The connection if the peer can be sent to; else goes on connecting, and null.
  [[nodiscard]] connection* ready(int peer) {
    connection* c = find(peer);
    if (c != nullptr && c->ready) [[likely]]
      return c;
    return connect(peer) ? find(peer) : nullptr;
  }
  /// True if two more requests can be posted.
  bool has_room(connection& c);
  /// True if one more request may ask for a completion.
  bool may_signal();
  /// Posts one request, signalled if it is time to learn which slots are free.
  void post(connection& c, ibv_send_wr& request);
  /// An RDMA write of one word into the peer's inbox.
  void post_word(connection& c, std::size_t offset, std::uint64_t word, unsigned flags = 0);
  /// Looks at what has completed.
  void reap();
  /// The connection does not work any more: whoever waits for the peer is told why.
  void break_off(connection& c, std::string why);
  /// Something came by the connection that the peer sends only if it has heard that this rank receives.
  void note_heard(connection& c) { table_.note_heard(c.peer); }
  [[nodiscard]] bool is_open(const connection& c) const noexcept { return c.qp.has_value(); }

  [[nodiscard]] endpoint& owner() const noexcept { return *owner_; }
  [[nodiscard]] const device_port& port() const noexcept { return *over_; }
  [[nodiscard]] registered_pool& pool() noexcept { return pool_; }
  [[nodiscard]] receive_queue& receives() noexcept { return receives_; }
  [[nodiscard]] const statistics& figures() const noexcept { return statistics_; }
  [[nodiscard]] std::size_t registered_bytes() const noexcept {
    return pool_.registered_bytes() + receives_.registered_bytes();
  }
  /// The part of the report that concerns connections; pieces of the pool that are in use elsewhere are
  /// counted as spare ones.
  void describe(memory_report& m) const;

  // What an endpoint asks of the parts of its transport.
  /// @throws error errc::peer_lost if a peer's connection is broken.
  void on_progress();
  void probe(int peer);
  /// Ends all connections: without one no peer reaches this rank's memory, nor this rank a peer's.
  void withdraw() noexcept;
  /// Begins nothing any more, and waits until what was sent has arrived, as `config::silence` allows.
  void settle() noexcept;
  /// Says farewell by each connection, behind all that was sent, and waits until it has arrived.
  void close() noexcept;

 private:
  /// How two ranks tell each other of their queue pairs. A side may send when it has heard that the other's
  /// queue pair takes its messages. Travels as it lies in memory.
  struct connect_message {
    std::uint32_t qp_number;
    std::uint32_t psn;
    std::uint64_t inbox;
    std::uint32_t inbox_key;
    connect_request request;
  };

  void open(int peer) override;
  void accept(int peer) override;
  void close(int peer) noexcept override;
  void set_ready(int peer, bool ready) noexcept override { peers_.find(peer)->ready = ready; }
  void send(int peer, const connect_request& m) override;
  void send(int peer, const close_message& m) override;
  bool is_drained(int peer) override;
  [[nodiscard]] ledger counts(int peer) override;
  [[nodiscard]] std::uint64_t used(int peer) const noexcept override;
  [[nodiscard]] bool works(int peer) const noexcept override;
  [[nodiscard]] bool has_left(int peer) const noexcept override;
  [[nodiscard]] bool admits(int peer) const noexcept override { return user_->admits(peer); }

  void on_datagram(int from, std::uint16_t kind, std::span<const std::byte> body);
  /// Looks around until `is_over` of each open connection that works, for at most `config::silence`.
  template <class IsOver>
  void await_each(const IsOver& is_over);
  /// Connections by the numbers of their queue pairs.
  struct numbers;

  [[nodiscard]] verbs::queue_pair make_queue_pair();
  void post_probe(connection& c);
  void on_send_completion(const ibv_wc& wc);
  void on_receive_completion(const ibv_wc& wc);
  void heed_farewells() noexcept;

  endpoint* owner_;
  const device_port* over_;
  connection_user* user_;
  options options_;
  std::uint16_t connect_kind_;  ///< of datagrams; to close is the next one
  registered_pool pool_;
  verbs::completion_queue cq_;
  receive_queue receives_;
  connection_table table_;
  per_peer<connection> peers_;
  std::unique_ptr<numbers> by_number_;
  connect_message heard_{};  ///< the newest request to connect
  statistics statistics_;
  struct {
    int signalled = 0;  ///< requests whose completion is awaited
    int broken = 0;     ///< connections
  } counts_;
  control_channel::subscription datagrams_;
};

inline bool connections::has_room(connection& c) {
  // Two at a time: a message may need a second request for its counter.
  if (c.posted - c.completed + 2 <= c.depth) [[likely]]
    return true;
  reap();
  return c.posted - c.completed + 2 <= c.depth;
}

inline void connections::post(connection& c, ibv_send_wr& request) {
  // One signalled request in each half of the queue is enough to learn that the slots before it are free.
  if ((++c.posted & (c.depth / 2 - 1)) == 0) request.send_flags |= IBV_SEND_SIGNALED;
  if ((request.send_flags & IBV_SEND_SIGNALED) != 0) ++counts_.signalled;
  request.wr_id = static_cast<std::uint64_t>(static_cast<std::uint32_t>(c.peer)) << 32 |
                  static_cast<std::uint32_t>(c.posted);
  clock::worked(host_work::send);
  c.qp->post_send(request);
}

inline void connections::post_word(connection& c, std::size_t offset, std::uint64_t word, unsigned flags) {
  ibv_sge source{reinterpret_cast<std::uintptr_t>(&word), sizeof word, 0};
  ibv_send_wr request;
  request.next = nullptr;
  request.sg_list = &source;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = IBV_SEND_INLINE | flags;
  request.wr.rdma.remote_addr = c.remote_inbox + offset;
  request.wr.rdma.rkey = c.remote_inbox_key;
  post(c, request);
}

}  // namespace chorale::transport
