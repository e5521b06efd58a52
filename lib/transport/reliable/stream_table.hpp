// SPDX-License-Identifier: Apache-2.0
// The streams of a rank to all others, and their contents: a sans-I/O state machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/memory/per_peer.hpp>
#include <chorale/transport/reliable/requests.hpp>
#include <chorale/transport/reliable/statistics.hpp>
#include <chorale/transport/wire/mailbox.hpp>

#include "../liveness/awaited.hpp"
#include "memory_client.hpp"
#include "memory_server.hpp"
#include "message_store.hpp"
#include "stream.hpp"

namespace chorale::transport::reliable {

/// Mailbox, memory operations and marks of one rank over unreliable datagrams. The owner passes in datagrams,
/// times and the waits of the rank; datagrams are sent through `port`. Reads no clock, holds no lock and
/// never waits, so that a test can run many tables in virtual time. The owner has checked that peers are
/// other ranks. Validates all data from peers. Not thread-safe.
class stream_table final : packet_sink {
 public:
  struct options {
    int ranks = 1;
    std::size_t packet_bytes = 1024;  ///< largest body of a datagram
    std::size_t block_bytes = 1000;   ///< largest message; at most a packet minus its header
    std::uint32_t blocks = 16;        ///< maximum of stored messages per sender
    std::size_t most_packets = 1024;  ///< maximum of packets kept, sent or received, over all streams
    std::uint64_t secret = 0;         ///< from which keys of exposed memory are derived
    clock::duration least_timeout{};
  };
  /// The port must outlive this.
  stream_table(packet_port& port, const options& o);
  stream_table(const stream_table&) = delete;
  stream_table& operator=(const stream_table&) = delete;
  ~stream_table() = default;

  /// Datagrams that may arrive between two polls: the receives that a rank among `ranks` should post.
  [[nodiscard]] static std::uint32_t receives_for(int ranks) noexcept;

  // Input.
  /// Handles a datagram of a `stream_kind` from another rank.
  void on_datagram(int from, std::uint16_t kind, std::span<const std::byte> body, const lazy_time& now);
  /// Handles a leaving rank's report of what it has received from this one.
  void on_farewell(int from, std::span<const std::byte> body, const lazy_time& now);

  // Mailbox.
  [[nodiscard]] bool may_send(int to) const noexcept {
    const stream& s = at(to);
    return s.credits().outstanding() < blocks_ && s.has_room();
  }
  /// Precondition: may_send(to), and the bytes fit into a block.
  void send(int to, call_id call, std::span<const std::byte> bytes, clock::time_point now);
  /// Hands out the next message if it has arrived: `message` is valid until it is released.
  finding receive(int from, call_id call, std::span<const std::byte>& message) {
    return store_.has_next(from) ? take_message(from, call, message) : finding{};
  }
  /// Releases the oldest message that was handed out. True if a packet waits for its room.
  [[nodiscard]] bool release(int from);
  void deliver_kept(int from, clock::time_point now) { at(from).deliver_kept(now); }
  /// False if there is no room in the port.
  bool signal(int to, call_id call, clock::time_point now) {
    return at(to).send_signal(signal_word(call), now);
  }
  /// Checks for the signal of that call, or a later one.
  finding signalled(int from, call_id call) {
    const std::uint64_t seen = at(from).signal();
    return reached(seen, signal_word(call)) ? take_signal(from, call, seen) : finding{};
  }

  // Memory.
  [[nodiscard]] exposures& exposed() noexcept { return server_.exposed(); }
  [[nodiscard]] const exposures& exposed() const noexcept { return server_.exposed(); }
  /// Ends all access of peers to memory here; replies are no longer written either.
  void withdraw() noexcept;
  [[nodiscard]] bool has_room(int to) const noexcept { return at(to).has_room(); }
  /// Sends as much as there is room for; true if that was everything.
  bool put(write_request& w, call_id call, clock::time_point now) {
    return client_.put(at(w.peer), w, call, now);
  }
  /// True if all puts to that rank have arrived.
  [[nodiscard]] bool is_flushed(int peer) const noexcept { return client_.has_arrived(peer); }
  /// Takes the next notification if it has arrived.
  finding notified(int from, call_id call) {
    return client_.next_notice(from) != nullptr ? take_notice(from, call) : finding{};
  }
  /// Requests bytes, or the old value of an atomic operation. Precondition: has_room(from). Returns the
  /// ticket of the answer, which is written to `into` or `old` on arrival.
  std::uint32_t get(int from, std::uint64_t address, std::uint32_t key, std::span<std::byte> into,
                    clock::time_point now) {
    return client_.get(at(from), address, key, into, now);
  }
  std::uint32_t operate(int on, std::uint64_t address, std::uint32_t key, atomic_operation what,
                        std::uint64_t first, std::uint64_t second, std::uint64_t& old,
                        clock::time_point now) {
    return client_.operate(at(on), address, key, what, first, second, old, now);
  }
  /// The state of the operation; a finished one is forgotten.
  memory_client::progress finish(std::uint32_t ticket) { return client_.finish(ticket); }
  /// Cancels it: nothing is written to its memory any more.
  void abandon(std::uint32_t ticket) noexcept { client_.abandon(ticket); }

  // Marks.
  /// Precondition: has_room(to).
  void tell(int to, path_mark what, clock::time_point now);
  /// The marks other than departures that arrived since the last call.
  [[nodiscard]] std::vector<received_path_mark> take_marks() noexcept;
  /// True if the peer has announced that later messages use the other path ...
  [[nodiscard]] bool has_departed(int from) const noexcept {
    return departed_[static_cast<std::size_t>(from)];
  }
  /// ... and no earlier message is still waiting here to be received; likewise for notifications.
  [[nodiscard]] bool has_no_more_messages(int from) const noexcept {
    return has_departed(from) && !store_.has_next(from);
  }
  [[nodiscard]] bool has_no_more_notices(int from) const noexcept {
    return has_departed(from) && client_.next_notice(from) == nullptr;
  }

  // Retransmission.
  /// This rank waits for data from that rank: requests missing packets. False if operations on that
  /// rank fail.
  [[nodiscard]] bool await(int from, clock::time_point now) {
    stream& s = at(from);
    if (!s.broken().empty()) [[unlikely]]
      return false;
    s.await(now);
    return true;
  }
  /// This rank waits for the answer to a request.
  void await_answer(int from, clock::time_point now);
  /// The awaited data has arrived.
  void end_await(int from) noexcept {
    if (stream* const s = streams_.find(from)) s->end_await();
  }
  /// This rank waits for room in the stream to that rank, or until everything in it has arrived.
  void request_report(int to, clock::time_point now);
  /// The same for a wait until puts there have arrived: asks only after a few calls.
  void request_report_soon(int to, clock::time_point now) { at(to).request_report_soon(now); }
  /// The last such wait has ended.
  void end_report_requests(int to) noexcept {
    if (stream* const s = streams_.find(to)) s->end_report_requests();
  }
  /// True if all packets to that rank have arrived.
  [[nodiscard]] bool is_drained(int to) const noexcept { return at(to).is_drained(); }
  /// Sends packets that waited for room.
  void progress(clock::time_point now);
  [[nodiscard]] bool has_lagging() const noexcept { return !all_.lagging.empty(); }
  /// Why operations on that rank fail; empty while they work.
  [[nodiscard]] const std::string& broken(int peer) const noexcept { return at(peer).broken(); }

  // Leaving.
  /// True if that rank has received everything from this one, or nothing more is to be sent to it.
  [[nodiscard]] bool is_confirmed(int peer) const noexcept {
    return at(peer).is_confirmed() || !at(peer).broken().empty();
  }
  /// Asks until that is the case. True if it has just asked.
  bool confirm(int peer, clock::time_point now) { return at(peer).confirm(now); }
  /// The packets received from a peer, sent when this rank leaves, since the peer cannot ask afterwards.
  [[nodiscard]] report_body last_words(int peer) const noexcept { return at(peer).state(); }

  [[nodiscard]] stream_statistics statistics() const noexcept;
  /// Bytes of packets kept, sent or received.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return all_.pool.memory_bytes(); }

 private:
  // Takes the next message, signal or notification, of that call or another one.
  finding take_message(int from, call_id call, std::span<const std::byte>& message);
  finding take_signal(int from, call_id call, std::uint64_t seen);
  finding take_notice(int from, call_id call);
  bool deliver(stream& from, const packet& p, const lazy_time& now) override;
  void on_arrival(stream& to, const lazy_time& now) override;
  /// Makes the stream if there is none.
  [[nodiscard]] stream& at(int peer) {
    stream* const s = streams_.find(peer);
    if (s == nullptr) [[unlikely]]
      return make(peer);
    return *s;
  }
  [[gnu::noinline]] stream& make(int peer);
  [[nodiscard]] const stream& at(int peer) const noexcept {
    const stream* const s = streams_.find(peer);
    if (s == nullptr) [[unlikely]]
      return unused_;
    return *s;
  }

  std::uint32_t blocks_;
  std::uint32_t window_;  ///< of each peer, in packets
  clock::duration least_timeout_;
  shared_by_streams all_;
  stream unused_;  ///< stands for those to peers with which nothing was exchanged
  per_peer<stream> streams_;
  message_store store_;
  memory_server server_;
  memory_client client_;
  std::vector<received_path_mark> marks_;
  std::vector<bool> departed_;
};

}  // namespace chorale::transport::reliable
