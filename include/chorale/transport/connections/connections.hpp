// SPDX-License-Identifier: Apache-2.0
// The reliable connections of a rank: queue pairs, their completions, and closing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <chorale/core/clock.hpp>
#include <chorale/transport/connections/connection.hpp>
#include <chorale/transport/connections/connection_table.hpp>
#include <chorale/transport/connections/lane.hpp>
#include <chorale/transport/endpoint/endpoint.hpp>
#include <chorale/transport/memory/memory_report.hpp>
#include <chorale/transport/memory/per_peer.hpp>
#include <chorale/transport/wire/device_port.hpp>

namespace chorale::transport {

/// What connections require of the mechanisms that send over them.
class connection_user {
 public:
  virtual void on_accepted(connection&) = 0;         ///< the queue pair is connected
  virtual void on_closed(connection&) noexcept = 0;  ///< its words have been saved; the inbox is freed next
  /// Immediate data arrived, of 31 bits, after the data written with it.
  virtual void on_notice(connection& from, std::uint32_t word) = 0;
  /// Message number `count` (its lower 31 bits, from 1) has been written into the inbox, and is complete.
  virtual void on_written(connection& from, std::uint32_t count) = 0;
  /// A message arrived in receive block `index`; the user must repost that block.
  virtual void on_message(connection& from, std::uint64_t index, const ibv_wc& wc) = 0;
  /// Adds the mechanism's counters for a peer.
  virtual void count(int peer, ledger& l) const noexcept = 0;
  /// Whether a peer that requests a connection may have one.
  [[nodiscard]] virtual bool admits(int peer) const noexcept = 0;

 protected:
  ~connection_user() = default;
};

/// One RC queue pair for each peer that communicates with this rank, made at first use, on one lane or, if
/// the ranks of a place have a device of their own, on two; each lane has one completion queue and, if the
/// device supports it, one shared receive queue. Limited by config::connections, as in `connection_table`.
/// Cost of eviction: opening and closing need the peer's attention, so that a rank that computes outside
/// calls can delay others until its next call; and while no rank is connected to a rank on another host,
/// only silence reveals the death of that rank.
class connections final : private connection_port {
 public:
  /// This bit of immediate data marks a message in the inbox rather than a notification.
  static constexpr std::uint32_t written_mark = 0x80000000U;

  using options = connection_options;
  struct statistics {
    int connected = 0;
    int most_connected = 0;
    std::uint64_t opened = 0;
    std::uint64_t closed = 0;
  };

  /// The joining plan of a transport that sends data over connections: datagrams carry only connection
  /// requests and inquiries.
  [[nodiscard]] static joining_plan plan(std::string transport, int ranks, const config& settings);

  /// `over`: the device port to use. `number`: identifies this object among the `connections` of its
  /// transport; the same on all ranks, below 24. `near`: the device port to the other ranks of this rank's
  /// place; null if `over` reaches them, too. The referenced objects must outlive it. @throws error as the
  /// verbs objects.
  connections(endpoint& owner, const device_port& over, connection_user& user, const options& o,
              std::uint16_t number = 0, const device_port* near = nullptr);
  connections(const connections&) = delete;
  connections& operator=(const connections&) = delete;
  ~connections();

  /// The connection to a peer that was contacted before; otherwise null.
  [[nodiscard]] connection* find(int peer) const noexcept { return peers_.find(peer); }
  connection& get(int peer);
  /// @throws error errc::invalid_argument if `peer` is not another rank of the group.
  void require_peer(int peer) const;
  /// Advances connecting; true if the peer can be sent to. @throws error errc::invalid_argument if there is
  /// no such peer.
  bool connect(int peer);
  /// The connection if the peer can be sent to; otherwise advances connecting and returns null.
  [[nodiscard]] connection* ready(int peer) {
    connection* c = find(peer);
    if (c != nullptr && c->ready) [[likely]]
      return c;
    return connect(peer) ? find(peer) : nullptr;
  }
  /// True if one more request can be posted.
  bool has_room(connection& c);
  /// True if one more request may be signalled.
  bool may_signal();
  /// Posts one request; signals it if its completion is needed to free slots of the send queue.
  void post(connection& c, ibv_send_wr& request);
  /// Writes one word into the peer's inbox after all earlier requests: by an RDMA write, or, if writes may
  /// overtake each other, by a message that the peer copies there.
  void post_word(connection& c, std::size_t offset, std::uint64_t word, unsigned flags = 0);
  /// Whether the peer can detect by polling that a write of `bytes` and all earlier requests are complete.
  [[nodiscard]] static bool is_polled(const connection& c, std::size_t bytes) noexcept {
    return c.there.in_order || (bytes <= c.there.polled_bytes && !c.there.unannounced);
  }
  /// Turns `request`, which writes message number `count` into the peer's inbox and is posted next, into a
  /// write with immediate, so that a completion announces it to the peer.
  [[gnu::cold]] static void announce(connection& c, ibv_send_wr& request, std::uint32_t count) noexcept;
  /// Call when polling memory has found nothing: handles completions if they announce data.
  void poll_announcements() {
    if (announced_writes_) reap();
  }
  /// How the arrival of data is announced, and why, in the words of `explain`.
  [[nodiscard]] std::string announcements() const;
  /// Polls completions.
  void reap();
  /// Marks the connection as broken: waits for the peer fail with this reason.
  void break_off(connection& c, std::string why);
  /// A message arrived that the peer sends only once it knows that this rank's queue pair can receive.
  void note_heard(connection& c) { table_.note_heard(c.peer); }
  [[nodiscard]] bool is_open(const connection& c) const noexcept { return c.qp.has_value(); }

  [[nodiscard]] endpoint& owner() const noexcept { return *owner_; }
  /// The port to all ranks, or to those of other places.
  [[nodiscard]] const device_port& port() const noexcept { return *lane_.over; }
  /// The port to the other ranks of this rank's place, if they have one of their own; otherwise null.
  [[nodiscard]] const device_port* near_port() const noexcept { return near_ ? near_->over : nullptr; }
  /// True if that port leads to the peer.
  [[nodiscard]] bool is_near(int peer) const noexcept { return near_ && shares_place(peer); }
  /// The lane to all ranks, or to those of other places.
  [[nodiscard]] lane& common_lane() noexcept { return lane_; }
  /// The lane to the other ranks of this rank's place; null if that is the same.
  [[nodiscard]] lane* near_lane() noexcept { return near_ ? &*near_ : nullptr; }
  [[nodiscard]] const statistics& figures() const noexcept { return statistics_; }
  [[nodiscard]] std::size_t registered_bytes() const noexcept {
    return lane_.registered_bytes() + (near_ ? near_->registered_bytes() : 0);
  }
  /// Adds the connections' part of the report; pieces of the pool that are used elsewhere count as spare.
  void describe(memory_report& m) const;

  // The interface for the endpoint.
  /// @throws error errc::peer_lost if a peer's connection is broken.
  void on_progress();
  void probe(int peer);
  /// Closes all connections: after that no peer can access this rank's memory, nor this rank a peer's.
  void withdraw() noexcept;
  /// Starts nothing new, and waits until everything sent has arrived, within `config::silence`.
  void settle() noexcept;
  /// Sends a farewell on each connection, after all other data, and waits until it has arrived.
  void close() noexcept;

 private:
  /// The order of writes that a rank can rely on when it polls its memory: none, within 128 aligned bytes of
  /// a write, within each write, or among all writes.
  enum class placement : std::uint8_t { unordered, aligned_128, within_request, ordered };
  /// Tells the peer about this rank's queue pair. A side may send once it knows that the other's queue pair
  /// receives its messages. Sent as raw bytes.
  struct connect_message {
    std::uint32_t qp_number;
    std::uint32_t psn;
    std::uint64_t inbox;
    std::uint32_t inbox_key;
    connect_request request;
    std::uint8_t reads;  ///< reads and atomics that its device executes at a time
    placement order;
    std::uint8_t atomics;  ///< 1: its device executes atomic operations
    std::uint8_t reserved[5]{};
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
  /// Drives progress until `is_over` for each open, working connection. `within`: time limit for all
  /// together.
  template <class IsOver>
  void await_each(clock::duration within, const IsOver& is_over);
  /// Maps queue pair numbers to connections.
  struct numbers;

  [[nodiscard]] bool shares_place(int peer) const noexcept;
  [[nodiscard]] placement placement_here(const connection& c) const;
  void on_word(connection& c, std::uint64_t index, const ibv_wc& wc);
  void reap(lane& from);
  /// Signals the request if its completion is needed to free earlier slots. On connections that pass every
  /// request here: sends words by messages if writes may overtake each other, and moves data that the device
  /// does not take inline to registered memory.
  [[gnu::cold]] static void prepare_request(connection& c, ibv_send_wr& request);
  void post_probe(connection& c);
  void on_send_completion(const ibv_wc& wc);
  void on_receive_completion(lane& from, const ibv_wc& wc);
  void poll_farewells() noexcept;

  endpoint* owner_;
  connection_user* user_;
  std::uint16_t connect_kind_;  ///< kind of connect datagrams; the next kind closes
  lane lane_;
  std::optional<lane> near_;
  bool announced_writes_;  ///< on either lane
  connection_table table_;
  per_peer<connection> peers_;
  std::unique_ptr<numbers> by_number_;
  connect_message heard_{};  ///< the latest connect request
  statistics statistics_;
  struct {
    int signalled = 0;  ///< requests with a pending completion
    int broken = 0;     ///< broken connections
  } counts_;
  control_channel::subscription datagrams_;
};

inline bool connections::has_room(connection& c) {
  if (c.posted - c.completed < c.queue.depth) [[likely]]
    return true;
  reap();
  return c.posted - c.completed < c.queue.depth;
}

inline void connections::post(connection& c, ibv_send_wr& request) {
  // One signalled request in each half of the queue suffices: its completion frees the earlier slots.
  if ((++c.posted & c.queue.prepare_mask) == 0) [[unlikely]]
    prepare_request(c, request);
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
  request.wr.rdma.remote_addr = c.there.inbox + offset;
  request.wr.rdma.rkey = c.there.key;
  post(c, request);
}

}  // namespace chorale::transport
