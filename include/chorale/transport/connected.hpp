// What transports over reliable connections share: the connections, one-sided and atomic operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <chorale/transport/concepts.hpp>
#include <chorale/transport/endpoint.hpp>
#include <chorale/transport/mailbox.hpp>
#include <chorale/transport/memory_report.hpp>
#include <chorale/transport/registered_pool.hpp>
#include <chorale/transport/registration_cache.hpp>
#include <chorale/verbs/shared_receive_queue.hpp>

namespace chorale::transport {

/// One RC queue pair for each peer that is really talked to, made when it is first needed, all on one
/// completion queue and one shared receive queue. User memory is registered through a cache.
///
/// `config::connections` limits the queue pairs that a rank keeps. When it needs one more, the one that has
/// not been used for longest is closed, if both sides agree that nothing is under way on it; it is made again
/// when it is next used, and messages and signals go on where they were. The limit is soft: a rank that
/// cannot close one within 5 ms (20 where ranks outnumber cores) exceeds it, up to one connection for each
/// peer if many send to it what it has not received yet, and closes what is too much as soon as it can. What
/// it costs: making and closing take the peer's attention, so that a rank which computes outside of calls can
/// keep others waiting until it makes its next call; and the death of a rank of another host is noticed by
/// its silence only while nobody is connected to it.
class connected : public endpoint {
 public:
  struct link;
  struct one_sided;
  struct atomic;

  /// Atomic operations of the device are atomic among themselves, but not with the processor's.
  static constexpr bool atomics_by_device = true;
  static constexpr bool reads_by_device = true;

  /// Peers this rank is connected with.
  [[nodiscard]] int connections() const noexcept { return connections_; }
  /// Connections, and what they and the buffers cost. Takes a look at every peer.
  [[nodiscard]] memory_report memory() const noexcept;
  /// Registered bytes of the transport's own: mailboxes, staging, receive and datagram buffers.
  [[nodiscard]] std::size_t registered_bytes() const noexcept;
  /// What the cache of registrations of user memory has done.
  [[nodiscard]] registration_statistics registrations() const noexcept { return cache_.statistics(); }
  [[nodiscard]] registration_guarantee registration_kept() const noexcept { return cache_.guarantee(); }
  [[nodiscard]] std::size_t zero_copy_bytes() const noexcept { return settings().zero_copy_bytes; }

  /// Registers memory that peers may write and read. @throws error as verbs::memory_region.
  [[nodiscard]] exposure expose(std::span<std::byte> memory) {
    return {cache_.find(memory, registration_cache::rights::remote), memory, rank()};
  }
  /// The same beside the cache: peers reach these bytes and no others, and none when the object has ended.
  [[nodiscard]] exposure expose_alone(std::span<std::byte> memory);
  /// Registers memory that peers may read; it may be read-only.
  [[nodiscard]] exposure offer(std::span<const std::byte> memory) {
    return {cache_.find(memory, registration_cache::rights::read), memory, rank()};
  }
  /// Registers memory that is a source of transfers; it may be read-only.
  [[nodiscard]] exposure lend(std::span<const std::byte> memory) { return offer(memory); }
  /// To be told before memory that may have been exposed is given back to the device.
  void forget(std::span<const std::byte> memory) noexcept { cache_.forget(memory.data(), memory.size()); }

  /// What it joins a group of so many ranks with: datagrams are for connections and questions alone.
  [[nodiscard]] static joining_plan plan(std::string transport, int ranks, const config& settings);

  [[nodiscard]] auto put(remote_region target, std::size_t offset, const exposure& local,
                         std::span<const std::byte> from, epoch now);
  [[nodiscard]] auto put_notified(remote_region target, std::size_t offset, const exposure& local,
                                  std::span<const std::byte> from, epoch now);
  [[nodiscard]] auto get(remote_region source, std::size_t offset, const exposure& local,
                         std::span<std::byte> into, epoch now);
  [[nodiscard]] auto flush(int peer, epoch now) {
    return waiting{*this, peer, now, [this, peer] { return try_flush(peer); }};
  }
  [[nodiscard]] auto notified(int from, epoch now) {
    return waiting{*this, from, now, [this, from, now] { return try_notified(from, now); }};
  }
  [[nodiscard]] auto fetch_add(remote_region target, std::size_t offset, std::uint64_t value, epoch now);
  [[nodiscard]] auto compare_swap(remote_region target, std::size_t offset, std::uint64_t expected,
                                  std::uint64_t wanted, epoch now);

 protected:
  bool try_flush(int peer);
  bool try_notified(int from, epoch now);
  struct options {
    std::size_t inbox_bytes = 0;     ///< written by the peer, one for each connection
    std::size_t receive_bytes = 0;   ///< of one receive; 0 for receives that only carry immediate data
    std::uint32_t receives = 0;      ///< that wait on the shared receive queue
    std::uint32_t inline_bytes = 0;  ///< that a request should be able to carry, on the software device
  };
  connected(joined_group&& group, const options& o);
  ~connected() override;

  [[nodiscard]] link* link_of(int peer) const noexcept {
    return links_[static_cast<std::size_t>(peer)].get();
  }
  /// The link to `peer` if messages can be sent to it; else gets on with making it.
  [[nodiscard]] link* ready_link(int peer);
  /// Gets on with making a connection; true if it is there.
  bool connect(int peer);
  /// Whether a peer that asks for a connection may have one.
  [[nodiscard]] virtual bool admits(int) const noexcept { return true; }
  /// True if two more requests can be posted.
  bool has_room(link& l);
  /// Posts one request, signalled if it is time to learn which slots are free.
  void post(link& l, ibv_send_wr& request);
  void reap();
  /// The oldest message of the peer that was handed out is given back; the peer is told of half a mailbox at
  /// once.
  void give_back(link& l) noexcept;
  /// The connection does not work any more: whoever waits for the peer is told why.
  void break_link(link& l, std::string why);
  /// Receives of the shared receive queue.
  [[nodiscard]] std::uint32_t receives() const noexcept { return options_.receives; }
  /// Posts receive number `index` of the shared receive queue, whose bytes are `receive_buffer(index)`.
  void post_receive(std::uint64_t index);
  [[nodiscard]] std::byte* receive_buffer(std::uint64_t index) const noexcept;
  /// A message came into receive `index`, which must be posted again.
  virtual void on_message(link& from, std::uint64_t index, const ibv_wc& wc);
  void on_datagram(int from, std::uint16_t kind, std::span<const std::byte> body) override;
  void on_progress() override;
  std::span<const std::byte> checked(const remote_region& remote, std::size_t offset,
                                     std::size_t bytes) const;
  std::span<const std::byte> checked(const remote_region& remote, std::size_t offset, const exposure& local,
                                     std::span<const std::byte> memory) const;
  void probe(int peer, epoch now) override;
  /// Ends all connections: without one no peer reaches this rank's memory, nor this rank a peer's.
  void withdraw() noexcept override;
  /// Ends the connections; to be called by the destructor of the transport.
  void close() noexcept;

  [[nodiscard]] registered_pool& pool() noexcept { return pool_; }
  [[nodiscard]] const std::vector<link*>& open_links() const noexcept { return open_links_; }

 private:
  struct connect_message;
  struct close_message;
  static constexpr std::uint32_t queue_depth = 128;
  static constexpr std::uint64_t receive_mark = std::uint64_t{1} << 63;

  link& known_link(int peer);
  void open(link& l);
  void send_connect(link& l);
  void on_connect(link& l, const connect_message& m);
  // The limit on connections, and closing them by agreement.
  bool may_open(link& l);
  void make_room(std::size_t wanted);
  void keep_limit();
  void ask_to_close(link& l);
  [[nodiscard]] close_message state_of(const link& l) const noexcept;
  void send_close(int to, const close_message& m);
  void on_close(link& l, const close_message& m);
  void answer_close(link& l, const close_message& m);
  bool drained(link& l);
  void close_link(link& l);
  void post_probe(link& l);
  void on_send_completion(const ibv_wc& wc);
  void on_receive_completion(const ibv_wc& wc);
  void heed_farewells() noexcept;
  void notify(link& l) noexcept;
  bool may_signal();

  options options_;
  registered_pool pool_;
  registration_cache cache_;
  std::optional<verbs::registered_buffer> receives_;
  std::optional<verbs::completion_queue> cq_;
  std::optional<verbs::shared_receive_queue> srq_;
  std::vector<std::unique_ptr<link>> links_;
  std::vector<link*> open_links_;
  std::unordered_map<std::uint32_t, link*> link_of_qp_;
  std::vector<ibv_wc> completions_{16};
  std::vector<link*> callers_;  ///< peers that wait for room here
  int connections_ = 0;
  int peak_connections_ = 0;
  std::uint64_t opened_ = 0;
  std::uint64_t closed_ = 0;
  bool ending_ = false;
  int broken_links_ = 0;
  bool notifications_due_ = false;
  int signalled_ = 0;
  int most_signalled_ = 0;
  std::uint32_t inline_wanted_ = 0;
  std::uint64_t uses_ = 0;
};

/// One peer: its queue pair, the inbox it writes into, and where its own inbox is. It lives as long as the
/// transport; a closed connection leaves the counters and the words.
struct connected::link {
  int peer = -1;
  std::optional<verbs::queue_pair> qp;
  std::uint32_t psn = 0;
  pool_block inbox;  ///< written by the peer; none while closed
  /// Signal, notification and farewell at their offsets of mailbox_layout: in the inbox, or in `kept_words`.
  std::byte* words = kept_words;
  alignas(64) std::byte kept_words[mailbox_layout::blocks_offset]{};
  std::uint64_t remote_inbox = 0;
  std::uint32_t remote_inbox_key = 0;
  bool receiving = false;  ///< our queue pair takes what the peer sends
  bool ready = false;      ///< the peer's takes what we send
  /// The device does not place data in order: a counter behind data needs a write of its own.
  bool separate_counter = false;
  std::uint64_t posted = 0;  ///< work requests
  std::uint64_t completed = 0;
  std::uint64_t last_put = 0;      ///< request number of the last put
  std::uint64_t probe_ticket = 0;  ///< request number of the probe under way, 0 if there is none
  std::uint32_t depth = 0;
  std::deque<std::uint32_t> notices;  ///< immediate data that came and was not waited for yet
  pool_block word;                    ///< where atomic operations put the old value; made when first needed
  std::string broken;                 ///< why the connection failed, empty while it works
  steady::time_point next_request{};
  steady::duration request_interval{std::chrono::milliseconds{1}};

  // Messages through the inbox or the receive queue, as the transport has them.
  pool_block staging;  ///< source of messages that cannot go inline; made when first needed
  bool notification_due = false;
  std::uint64_t sent = 0;         ///< messages sent to the peer
  std::uint64_t received = 0;     ///< messages of the peer handed out
  std::uint64_t released = 0;     ///< ... and given back
  std::uint64_t notified = 0;     ///< ... and told to the peer
  std::uint64_t signal_sent = 0;  ///< the last signal word
  std::uint64_t notices_sent = 0;
  std::uint64_t notices_received = 0;

  // Closing, and what tells which connection has not been used for longest.
  std::uint32_t generation = 0;  ///< how often it has been closed
  std::uint32_t attempt = 0;     ///< number of this rank's last request to close it
  std::uint32_t refused = 0;     ///< number of the peer's last request that was refused
  bool closing = false;          ///< this rank has asked, and posts nothing until it is answered
  bool wished = false;           ///< this rank has opened it in order to send
  std::uint64_t probes = 0;
  std::uint64_t used_before = 0;  ///< `used()` when it was opened
  std::uint64_t activity = 0;     ///< as it was looked at last
  std::uint64_t last_active = 0;
  steady::time_point next_attempt{};
  steady::time_point waits_for_room_since{};

  /// Requests that were more than signs of life.
  [[nodiscard]] std::uint64_t used() const noexcept { return posted - probes; }
  /// True if this rank has opened it in order to send, and has not yet.
  [[nodiscard]] bool is_due() const noexcept { return wished && used() == used_before; }
};

/// A put or get under way, in requests of at most 1 GiB.
struct connected::one_sided {
  connected* net;
  ibv_wr_opcode opcode;
  remote_region remote;
  std::size_t offset;
  std::uint32_t lkey;
  std::span<const std::byte> memory;
  epoch now;
  std::size_t posted_bytes = 0;
  std::uint64_t ticket = 0;
  bool last_posted = false;
  bool operator()();
};

struct connected::atomic {
  connected* net;
  ibv_wr_opcode opcode;
  remote_region remote;
  std::size_t offset;
  std::uint64_t first;
  std::uint64_t second;
  std::uint64_t ticket = 0;
  std::uint64_t old = 0;
  bool operator()();
  [[nodiscard]] std::uint64_t result() const noexcept { return old; }
};

inline auto connected::put(remote_region target, std::size_t offset, const exposure& local,
                           std::span<const std::byte> from, epoch now) {
  return waiting{*this, target.owner, now,
                 one_sided{this, IBV_WR_RDMA_WRITE, target, offset, local.lkey(),
                           checked(target, offset, local, from), now}};
}
inline auto connected::put_notified(remote_region target, std::size_t offset, const exposure& local,
                                    std::span<const std::byte> from, epoch now) {
  return waiting{*this, target.owner, now,
                 one_sided{this, IBV_WR_RDMA_WRITE_WITH_IMM, target, offset, local.lkey(),
                           checked(target, offset, local, from), now}};
}
inline auto connected::get(remote_region source, std::size_t offset, const exposure& local,
                           std::span<std::byte> into, epoch now) {
  return waiting{*this, source.owner, now,
                 one_sided{this, IBV_WR_RDMA_READ, source, offset, local.lkey(),
                           checked(source, offset, local, into), now}};
}
inline auto connected::fetch_add(remote_region target, std::size_t offset, std::uint64_t value, epoch now) {
  checked(target, offset, sizeof value);
  return waiting{*this, target.owner, now,
                 atomic{this, IBV_WR_ATOMIC_FETCH_AND_ADD, target, offset, value, 0}};
}
inline auto connected::compare_swap(remote_region target, std::size_t offset, std::uint64_t expected,
                                    std::uint64_t wanted, epoch now) {
  checked(target, offset, sizeof wanted);
  return waiting{*this, target.owner, now,
                 atomic{this, IBV_WR_ATOMIC_CMP_AND_SWP, target, offset, expected, wanted}};
}

inline bool connected::has_room(link& l) {
  // Two at a time: a message may need a second request for its counter.
  if (l.posted - l.completed + 2 <= l.depth) [[likely]]
    return true;
  reap();
  return l.posted - l.completed + 2 <= l.depth;
}

inline void connected::give_back(link& l) noexcept {
  ++l.released;
  if (l.released - l.notified >= settings().blocks / 2) notify(l);
}

inline void connected::post(link& l, ibv_send_wr& request) {
  // One signalled request in each half of the queue is enough to learn that the slots before it are free.
  if (++l.posted % (l.depth / 2) == 0) request.send_flags |= IBV_SEND_SIGNALED;
  if ((request.send_flags & IBV_SEND_SIGNALED) != 0) ++signalled_;
  request.wr_id = static_cast<std::uint64_t>(static_cast<std::uint32_t>(l.peer)) << 32 |
                  static_cast<std::uint32_t>(l.posted);
  l.qp->post_send(request);
}

inline connected::link* connected::ready_link(int peer) {
  link* l = link_of(peer);
  if (l != nullptr && l->ready) [[likely]]
    return l;
  return connect(peer) ? link_of(peer) : nullptr;
}

}  // namespace chorale::transport
