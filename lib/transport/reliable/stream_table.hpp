// The streams of a rank to all others, and what goes through them: a state machine without I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/mailbox.hpp>
#include <chorale/transport/reliable/requests.hpp>
#include <chorale/transport/reliable/statistics.hpp>

#include "../awaited.hpp"
#include "memory_client.hpp"
#include "memory_server.hpp"
#include "message_store.hpp"
#include "stream.hpp"

namespace chorale::transport::reliable {

/// Mailbox, memory operations and marks of one rank over unreliable datagrams. Its owner hands it what comes
/// and the time, and tells it what the rank waits for; it sends by its port. It reads no clock, holds no lock
/// and never waits, so that a test drives many of them in virtual time. Peers are others than this rank: its
/// owner has checked that. Everything that a peer sends is checked here. Not thread-safe.
class stream_table final : packet_sink {
 public:
  struct options {
    int ranks = 1;
    std::size_t packet_bytes = 1024;  ///< largest body of a datagram
    std::size_t block_bytes = 1000;   ///< largest message; at most a packet without its header
    std::uint32_t blocks = 16;        ///< messages of a sender that may be here at once
    std::size_t most_packets = 1024;  ///< that are kept, sent or received, in all streams together
    std::uint64_t secret = 0;         ///< from which keys of exposed memory follow
    clock::duration least_timeout{};
  };
  /// The port outlives it.
  stream_table(packet_port& port, const options& o);
  stream_table(const stream_table&) = delete;
  stream_table& operator=(const stream_table&) = delete;
  ~stream_table() = default;

  /// Datagrams that may come before a rank looks: what a rank among that many should post.
  [[nodiscard]] static std::uint32_t receives_for(int ranks) noexcept;

  // What comes.
  /// A datagram of a kind of `stream_kind`, of another rank.
  void on_datagram(int from, std::uint16_t kind, std::span<const std::byte> body, const event_time& now);
  /// What a rank that leaves has of this one's packets.
  void on_farewell(int from, std::span<const std::byte> body, const event_time& now);

  // Mailbox.
  [[nodiscard]] bool may_send(int to) const noexcept {
    const stream& s = at(to);
    return s.credits().outstanding() < blocks_ && s.has_room();
  }
  /// Precondition: may_send(to), and the bytes fit into a block.
  void send(int to, call_id call, std::span<const std::byte> bytes, clock::time_point now);
  /// Hands the next message out if it is here: `message` is valid until it is released.
  finding receive(int from, call_id call, std::span<const std::byte>& message) {
    return store_.has_next(from) ? take_message(from, call, message) : finding{};
  }
  /// The oldest message that was handed out is given back. True if a packet waits for the room.
  [[nodiscard]] bool release(int from);
  void deliver_kept(int from, clock::time_point now) { at(from).deliver_kept(now); }
  /// False if there is no room in the port.
  bool signal(int to, call_id call, clock::time_point now);
  /// Looks for the signal of that call, or a later one.
  finding signalled(int from, call_id call) {
    const std::uint64_t seen = at(from).signal();
    return reached(seen, signal_word(call)) ? take_signal(from, call, seen) : finding{};
  }

  // Memory.
  [[nodiscard]] exposures& exposed() noexcept { return server_.exposed(); }
  [[nodiscard]] const exposures& exposed() const noexcept { return server_.exposed(); }
  /// From now on no peer reaches any memory here, and no reply is written to any.
  void withdraw() noexcept;
  [[nodiscard]] bool has_room(int to) const noexcept { return at(to).has_room(); }
  /// Sends as much as there is room for; true if that was all.
  bool put(write_request& w, call_id call, clock::time_point now) {
    return client_.put(at(w.peer), w, call, now);
  }
  /// True if all that was put to that rank has arrived.
  [[nodiscard]] bool is_flushed(int peer) const noexcept { return client_.has_arrived(peer); }
  /// Takes the next notice if it is here.
  finding notified(int from, call_id call) {
    return client_.next_notice(from) != nullptr ? take_notice(from, call) : finding{};
  }
  /// Asks for bytes, or for the old value of an atomic operation. Precondition: has_room(from). Returns the
  /// ticket of the answer, which is written to `into` or `old` when it comes.
  std::uint32_t get(int from, std::uint64_t address, std::uint32_t key, std::span<std::byte> into,
                    clock::time_point now) {
    return client_.get(at(from), address, key, into, now);
  }
  std::uint32_t operate(int on, std::uint64_t address, std::uint32_t key, atomic_operation what,
                        std::uint64_t first, std::uint64_t second, std::uint64_t& old,
                        clock::time_point now) {
    return client_.operate(at(on), address, key, what, first, second, old, now);
  }
  /// How the operation stands; one that is over is forgotten.
  memory_client::progress finish(std::uint32_t ticket) { return client_.finish(ticket); }
  /// Forgets it: nothing is written to its memory any more.
  void abandon(std::uint32_t ticket) noexcept { client_.abandon(ticket); }

  // Marks.
  /// Precondition: has_room(to).
  void tell(int to, path_mark what, clock::time_point now);
  /// Those but departures that came since the last call.
  [[nodiscard]] std::vector<path_news> take_news() noexcept;
  /// True if the peer has said that its messages come the other way from now on ...
  [[nodiscard]] bool has_departed(int from) const noexcept {
    return departed_[static_cast<std::size_t>(from)];
  }
  /// ... and no message that came before waits here to be received; the same of notices.
  [[nodiscard]] bool has_no_more_messages(int from) const noexcept {
    return has_departed(from) && !store_.has_next(from);
  }
  [[nodiscard]] bool has_no_more_notices(int from) const noexcept {
    return has_departed(from) && client_.next_notice(from) == nullptr;
  }

  // Repair.
  /// This rank waits for something that comes from that rank: what is lost is asked for.
  void await(int from, clock::time_point now) { at(from).await(now); }
  /// This rank waits for the answer to a request.
  void await_answer(int from, clock::time_point now);
  /// It has come.
  void end_await(int from) noexcept { at(from).end_await(); }
  /// This rank waits for room in the stream to that rank, or until all in it has arrived.
  void press(int to, clock::time_point now);
  /// The same of who waits until what was put there has arrived: asked after a few looks.
  void press_soon(int to, clock::time_point now) { at(to).press_soon(now); }
  /// The last one that waited so has what it waited for.
  void end_press(int to) noexcept { at(to).end_press(); }
  /// True if all packets to that rank have arrived.
  [[nodiscard]] bool is_drained(int to) const noexcept { return at(to).is_drained(); }
  /// Sends what has waited for room.
  void progress(clock::time_point now);
  [[nodiscard]] bool has_lagging() const noexcept { return !all_.lagging.empty(); }
  /// Why operations on that rank fail; empty while they work.
  [[nodiscard]] const std::string& broken(int peer) const noexcept { return at(peer).broken(); }

  // The end.
  /// True if that rank has all that this one has sent, or nothing more is to be sent to it.
  [[nodiscard]] bool is_confirmed(int peer) const noexcept {
    return at(peer).is_confirmed() || !at(peer).broken().empty();
  }
  /// Asks until it is so. True if it has just asked.
  bool confirm(int peer, clock::time_point now) { return at(peer).confirm(now); }
  /// What this rank has of a peer, who cannot ask any more when this rank has left.
  [[nodiscard]] report_body last_words(int peer) const noexcept { return at(peer).state(); }

  [[nodiscard]] stream_statistics statistics() const noexcept;
  /// Bytes of packets that are kept, sent or received.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return all_.pool.memory_bytes(); }

 private:
  // What is here, of that call or of another one.
  finding take_message(int from, call_id call, std::span<const std::byte>& message);
  finding take_signal(int from, call_id call, std::uint64_t seen);
  finding take_notice(int from, call_id call);
  bool deliver(stream& from, const packet& p, const event_time& now) override;
  void on_arrival(stream& to, const event_time& now) override;
  [[nodiscard]] stream& at(int peer) noexcept { return *streams_[static_cast<std::size_t>(peer)]; }
  [[nodiscard]] const stream& at(int peer) const noexcept {
    return *streams_[static_cast<std::size_t>(peer)];
  }

  std::uint32_t blocks_;
  shared_by_streams all_;
  std::vector<std::unique_ptr<stream>> streams_;
  message_store store_;
  memory_server server_;
  memory_client client_;
  std::vector<path_news> news_;
  std::vector<bool> departed_;
};

}  // namespace chorale::transport::reliable
