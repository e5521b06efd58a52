// Mailbox and one-sided operations over reliable connections: RDMA write, polled in memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/transport/concepts.hpp>
#include <chorale/transport/endpoint.hpp>
#include <chorale/transport/mailbox.hpp>
#include <chorale/transport/registered_pool.hpp>
#include <chorale/verbs/memory_region.hpp>

namespace chorale::transport {

/// Memory that a rank keeps exposed to its peers; move-only, un-exposed when it ends.
class exposure {
 public:
  exposure(const verbs::protection_domain& domain, std::span<std::byte> memory, int owner);
  [[nodiscard]] remote_region region() const noexcept;
  [[nodiscard]] std::uint32_t lkey() const noexcept { return region_.lkey(); }
  /// True if all of [first, first + bytes) is exposed here.
  [[nodiscard]] bool contains(const void* first, std::size_t bytes) const noexcept;

 private:
  verbs::memory_region region_;
  int owner_;
};

/// One RC queue pair for each peer that is really talked to, made when it is first needed. Messages are RDMA
/// writes into blocks of the receiver, data and counter in one write, bottom-filled (P2 section 4.1.3); a
/// signal is an RDMA write of one word into a place of the sender's own at the receiver (P1 section 5.1).
/// Neither needs the receiver's CPU, nor a receive request. Cost: one RDMA write a message, one more for each
/// half mailbox that the receiver has read.
class rc final : public endpoint {
 public:
  static constexpr const char* name = "rc";

  /// Collective over `group`. @throws error if there is no usable device or the ranks do not fit together.
  template <bootstrap::group G>
  rc(G& group, const config& settings) : rc(view_of(group, settings), settings) {}
  ~rc() override;

  /// Largest payload of one message.
  [[nodiscard]] std::size_t block_bytes() const noexcept { return layout_.payload_bytes(); }
  /// Peers this rank is connected with.
  [[nodiscard]] int connections() const noexcept { return connections_; }
  /// Registered bytes: mailboxes, staging, datagram buffers.
  [[nodiscard]] std::size_t registered_bytes() const noexcept;

  class arrival;
  struct link;

  [[nodiscard]] auto signal(int to, epoch now) {
    return waiting{*this, to, now, [this, to, now] { return try_signal(to, now); }};
  }
  [[nodiscard]] auto signalled(int from, epoch now) {
    return waiting{*this, from, now, [this, from, now] { return try_signalled(from, now); }};
  }
  [[nodiscard]] auto send(int to, epoch now, std::span<const std::byte> bytes) {
    return waiting{*this, to, now, [this, to, now, bytes] { return try_send(to, now, bytes); }};
  }
  [[nodiscard]] auto receive(int from, epoch now);

  [[nodiscard]] exposure expose(std::span<std::byte> memory) { return {domain(), memory, rank()}; }
  [[nodiscard]] auto put(remote_region target, std::size_t offset, const exposure& local,
                         std::span<const std::byte> from) {
    return waiting{*this, target.owner, current(),
                   one_sided{this, IBV_WR_RDMA_WRITE, target, offset, local.lkey(),
                             checked(target, offset, local, from)}};
  }
  [[nodiscard]] auto get(remote_region source, std::size_t offset, const exposure& local,
                         std::span<std::byte> into) {
    return waiting{*this, source.owner, current(),
                   one_sided{this, IBV_WR_RDMA_READ, source, offset, local.lkey(),
                             checked(source, offset, local, into)}};
  }

 private:
  struct connect_message;
  struct one_sided {
    rc* net;
    ibv_wr_opcode opcode;
    remote_region remote;
    std::size_t offset;
    std::uint32_t lkey;
    std::span<const std::byte> memory;
    std::size_t posted_bytes = 0;
    std::uint64_t ticket = 0;
    bool operator()();
  };

  rc(const group_view& group, const config& settings);

  static constexpr std::uint32_t queue_depth = 128;

  [[nodiscard]] link* link_of(int peer) const noexcept {
    return links_[static_cast<std::size_t>(peer)].get();
  }
  bool try_signal(int to, epoch now);
  bool try_signalled(int from, epoch now);
  bool try_send(int to, epoch now, std::span<const std::byte> bytes);
  bool try_receive(int from, epoch now, std::span<const std::byte>& message);
  void release(link& l) noexcept;
  void notify(link& l) noexcept;
  bool has_room(link& l);
  void post(link& l, ibv_send_wr& request);
  std::span<const std::byte> checked(const remote_region& remote, std::size_t offset, const exposure& local,
                                     std::span<const std::byte> memory) const;

  bool connect(int peer);
  link& make_link(int peer);
  void send_connect(link& l);
  void on_datagram(int from, std::uint16_t kind, std::span<const std::byte> body) override;
  void on_progress() override;
  void probe(int peer, epoch now) override;
  void reap();
  void on_failed_completion(const ibv_wc& wc);
  void heed_farewells() noexcept;
  void close() noexcept;

  mailbox_layout layout_;
  registered_pool pool_;
  std::optional<verbs::completion_queue> cq_;
  std::vector<std::unique_ptr<link>> links_;
  std::vector<link*> open_links_;
  std::vector<ibv_wc> completions_{16};
  int connections_ = 0;
  int broken_links_ = 0;
  std::uint32_t inline_wanted_ = 0;
  bool notifications_due_ = false;
};

/// One peer: its queue pair, the inbox it writes into, and where its own inbox is.
struct rc::link {
  int peer = -1;
  std::optional<verbs::queue_pair> qp;
  std::uint32_t psn = 0;
  pool_block inbox;    ///< written by the peer
  pool_block staging;  ///< source of messages that cannot go inline; made when first needed
  std::uint64_t remote_inbox = 0;
  std::uint32_t remote_inbox_key = 0;
  bool receiving = false;  ///< our queue pair takes what the peer sends
  bool ready = false;      ///< the peer's takes what we send
  bool separate_counter =
      false;  ///< the device does not place data in order: the counter needs a write of its own
  bool notification_due = false;
  std::uint64_t probe_ticket = 0;  ///< request number of the probe under way, 0 if there is none
  std::uint64_t sent = 0;          ///< messages sent to the peer
  std::uint64_t received = 0;      ///< messages of the peer handed out
  std::uint64_t released = 0;      ///< ... and given back
  std::uint64_t notified = 0;      ///< ... and told to the peer
  std::uint64_t posted = 0;        ///< work requests
  std::uint64_t completed = 0;
  std::uint32_t depth = 0;
  std::string broken;  ///< why the connection failed, empty while it works
  steady::time_point next_request{};
  steady::duration request_interval{std::chrono::milliseconds{1}};
};

/// A message in a block of the inbox.
class rc::arrival {
 public:
  arrival(rc& net, link& l, std::span<const std::byte> bytes) noexcept
      : net_(&net), link_(&l), bytes_(bytes) {}
  arrival(arrival&& other) noexcept
      : net_(std::exchange(other.net_, nullptr)), link_(other.link_), bytes_(other.bytes_) {}
  arrival& operator=(arrival&& other) noexcept {
    std::swap(net_, other.net_);
    std::swap(link_, other.link_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~arrival() { release(); }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  void release() noexcept {
    if (net_ != nullptr) std::exchange(net_, nullptr)->release(*link_);
  }

 private:
  rc* net_;
  link* link_;
  std::span<const std::byte> bytes_;
};

inline auto rc::receive(int from, epoch now) {
  struct look {
    rc* net;
    int from;
    epoch now;
    std::span<const std::byte> message{};
    bool operator()() { return net->try_receive(from, now, message); }
    arrival result() { return {*net, *net->link_of(from), message}; }
  };
  return waiting{*this, from, now, look{this, from, now}};
}

inline bool rc::has_room(link& l) {
  // Two at a time: a message may need a second request for its counter.
  if (l.posted - l.completed + 2 <= l.depth) [[likely]]
    return true;
  reap();
  return l.posted - l.completed + 2 <= l.depth;
}

inline void rc::post(link& l, ibv_send_wr& request) {
  // One signalled request in each half of the queue is enough to learn that the slots before it are free.
  if (++l.posted % (l.depth / 2) == 0) request.send_flags |= IBV_SEND_SIGNALED;
  request.wr_id = static_cast<std::uint64_t>(static_cast<std::uint32_t>(l.peer)) << 32 |
                  static_cast<std::uint32_t>(l.posted);
  l.qp->post_send(request);
}

inline bool rc::try_signalled(int from, epoch now) {
  const link* l = link_of(from);
  if (l == nullptr) return false;
  const std::uint64_t seen = load_acquire(l->inbox.data + mailbox_layout::signal_offset);
  const std::uint64_t wanted = signal_word(now);
  if (!reached(seen, wanted)) return false;
  if (seen != wanted && same_call(seen, wanted)) [[unlikely]] {
    mismatch(from, now);
    return false;
  }
  return true;
}

inline bool rc::try_signal(int to, epoch now) {
  link* l = link_of(to);
  if (l == nullptr || !l->ready) [[unlikely]] {
    if (!connect(to)) return false;
    l = link_of(to);
  }
  if (!has_room(*l)) return false;
  std::uint64_t word = signal_word(now);
  ibv_sge source{reinterpret_cast<std::uintptr_t>(&word), sizeof word, 0};
  ibv_send_wr request;
  request.next = nullptr;
  request.sg_list = &source;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = IBV_SEND_INLINE;
  request.wr.rdma.remote_addr = l->remote_inbox + mailbox_layout::signal_offset;
  request.wr.rdma.rkey = l->remote_inbox_key;
  post(*l, request);
  return true;
}

inline bool rc::try_receive(int from, epoch now, std::span<const std::byte>& message) {
  link* l = link_of(from);
  if (l == nullptr) return false;
  const std::byte* end = l->inbox.data + layout_.block_end(l->received);
  const std::uint64_t counter = load_acquire(end - sizeof(std::uint64_t));
  if (!has_arrived(counter, l->received)) return false;
  mailbox_trailer trailer;
  std::memcpy(&trailer, end - sizeof trailer, sizeof trailer);
  if (trailer.call != static_cast<std::uint32_t>(now.number) || trailer.signature != now.signature ||
      trailer.bytes > layout_.payload_bytes()) [[unlikely]] {
    mismatch(from, now);
    return false;
  }
  message = {end - sizeof trailer - padded(trailer.bytes), trailer.bytes};
  ++l->received;
  return true;
}

inline void rc::release(link& l) noexcept {
  ++l.released;
  if (l.released - l.notified >= layout_.blocks / 2) notify(l);
}

}  // namespace chorale::transport

static_assert(chorale::mailbox_transport<chorale::transport::rc>);
static_assert(chorale::one_sided_transport<chorale::transport::rc>);
