// SPDX-License-Identifier: Apache-2.0
// The packet streams to and from one peer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/transport/reliable/statistics.hpp>

#include "../wire/sequence.hpp"
#include "pacing.hpp"
#include "packet.hpp"
#include "receive_window.hpp"
#include "send_window.hpp"
#include "signals.hpp"

namespace chorale::transport::reliable {

/// Limits how many messages a rank may have sent beyond those that its peer has released. The number of
/// released messages travels as 32 bits with every packet in the other direction. Not thread-safe.
class message_credits {
 public:
  /// Messages of this rank that the peer has not released.
  [[nodiscard]] std::uint64_t outstanding() const noexcept { return sent_ - peer_released_; }
  void on_sent() noexcept { ++sent_; }
  /// The peer reports how many it has released; ignored if that exceeds the number sent.
  void on_acknowledged(std::uint32_t released) noexcept {
    const std::uint64_t back = caught_up(peer_released_, released);
    if (back <= sent_) peer_released_ = back;
  }

  /// One of the peer's messages was released.
  void on_released() noexcept { ++released_; }
  /// Number of messages released, for the next packet; after sending that, call `mark_acknowledged`.
  [[nodiscard]] std::uint32_t released() const noexcept { return static_cast<std::uint32_t>(released_); }
  void mark_acknowledged() noexcept { acknowledged_ = released_; }
  [[nodiscard]] std::uint64_t unacknowledged() const noexcept { return released_ - acknowledged_; }

 private:
  std::uint64_t sent_ = 0;
  std::uint64_t peer_released_ = 0;
  std::uint64_t released_ = 0;
  std::uint64_t acknowledged_ = 0;
};

/// The time is either known, or read when first needed: most arrivals need no clock. The owner of a state
/// machine supplies the reader. Converts to the time. Not thread-safe.
class lazy_time {
 public:
  using reader = clock::time_point (*)() noexcept;

  lazy_time(clock::time_point known) noexcept : time_(known) {}
  explicit lazy_time(reader read) noexcept : read_(read) {}
  lazy_time(const lazy_time&) = delete;
  lazy_time& operator=(const lazy_time&) = delete;

  operator clock::time_point() const noexcept {
    if (read_ != nullptr) {
      time_ = read_();
      read_ = nullptr;
    }
    return time_;
  }

 private:
  mutable reader read_ = nullptr;
  mutable clock::time_point time_{};
};

/// Unreliable datagrams to the other ranks.
class packet_port {
 public:
  /// Sends one datagram; `body` may be reused at once. `solicited` wakes the service thread of a peer that
  /// computes. Returns false if there is no room now: retry later. @throws error if sending has become
  /// impossible.
  virtual bool send(int peer, stream_kind kind, std::span<const std::byte> body, bool solicited) = 0;
  /// Counts a malformed datagram, which was discarded.
  virtual void refuse() noexcept = 0;

 protected:
  ~packet_port() = default;
};

class stream;

/// Receives what a stream delivers.
class packet_sink {
 public:
  /// The next packet of the stream, in order. False if there is no room for it now: the stream keeps it.
  virtual bool deliver(stream& from, const packet& p, const lazy_time& now) = 0;
  /// Packets of this rank have reached the peer: there may be room for more.
  virtual void on_arrival(stream& to, const lazy_time& now) = 0;

 protected:
  ~packet_sink() = default;
};

/// State shared by all streams of a rank.
struct shared_by_streams {
  packet_port& port;
  packet_sink& sink;
  packet_pool pool;
  stream_statistics counts{};
  std::vector<int> lagging{};  ///< peers for which packets wait for room in the port
};

/// Both directions between two ranks: sent packets are kept until acknowledged, received ones are delivered
/// exactly once and in order, and missing ones are requested. Sans-I/O: packets and times come in, packets go
/// out through the port. docs/datagrams.md describes the protocol. Not thread-safe.
class stream {
 public:
  /// At most `most` packets are in flight; no timeout is shorter than `least_timeout`.
  stream(int peer, shared_by_streams& all, std::uint32_t most, clock::duration least_timeout)
      : peer_(peer), all_(&all), out_(all.pool), in_(all.pool), pace_(most, least_timeout) {}

  [[nodiscard]] int peer() const noexcept { return peer_; }
  [[nodiscard]] message_credits& credits() noexcept { return credits_; }
  [[nodiscard]] const message_credits& credits() const noexcept { return credits_; }
  /// Why operations on the peer fail; empty while they work.
  [[nodiscard]] const std::string& broken() const noexcept { return broken_; }
  void break_off(std::string why) { broken_ = std::move(why); }
  /// A put of the peer was refused; every packet from now on says so.
  void note_refusal() noexcept { refuses_ = true; }

  // Sending.
  /// With nothing in flight there is always room, so that no stream waits forever for blocks held by others.
  [[nodiscard]] bool has_room() const noexcept {
    return out_.outstanding() == 0 || (out_.outstanding() < pace_.packets() && all_->pool.has_room());
  }
  /// Precondition: has_room().
  template <class Body>
  void push(packet_type type, std::uint8_t flags, call_id call, const Body& body,
            std::span<const std::byte> payload, clock::time_point now);
  /// Sends packets that waited for room in the port.
  void send_waiting(clock::time_point now);
  /// False if there is no room in the port.
  bool send_signal(std::uint64_t word, clock::time_point now);
  [[nodiscard]] sequence next() const noexcept { return out_.next(); }
  /// True if the peer has received all packets before `upto`.
  [[nodiscard]] bool has_arrived(sequence upto) const noexcept { return distance(upto, out_.oldest()) >= 0; }
  [[nodiscard]] bool is_drained() const noexcept { return out_.outstanding() == 0; }
  /// True if the peer has confirmed that it has all packets and the last signal.
  [[nodiscard]] bool is_confirmed() const noexcept { return is_drained() && signal_out_.confirmed; }

  // Arrivals.
  void on_packet(std::span<const std::byte> bytes, const packet& p, const lazy_time& now);
  void on_signal(const signal_body& b, const lazy_time& now);
  void on_report(const report_body& b, const lazy_time& when);
  void on_question(const question_body& b);
  /// Handles the peer's report, ignoring any retransmission request in it.
  void take_state(const report_body& b, const lazy_time& now);
  /// True if the next packet has arrived but could not be delivered for lack of room.
  [[nodiscard]] bool has_kept() const noexcept { return in_.has_kept(); }
  void deliver_kept(const lazy_time& now);
  /// The newest valid signal of the peer.
  [[nodiscard]] std::uint64_t signal() noexcept { return signals_in_.current(in_.expected()); }

  // Retransmission.
  static constexpr unsigned patient_calls = 4;
  /// This rank waits for data of the peer: requests missing packets.
  void await(clock::time_point now);
  [[nodiscard]] bool is_awaited() const noexcept { return request_.runs(); }
  /// The awaited data has arrived.
  void end_await() noexcept { request_.stop(); }
  /// This rank waits for room, or until everything has arrived: asks which packets the peer has received.
  void request_report(clock::time_point now);
  /// The same for waits until everything has arrived, but asks only at the `patient_calls`-th call: the peer
  /// usually reports by itself before that, without a guarantee.
  void request_report_soon(clock::time_point now);
  void end_report_requests() noexcept { question_.stop(); }
  /// This rank leaves: asks until the peer has received everything. True if it has just asked.
  bool confirm(clock::time_point now);
  /// Reports received packets and released messages to the peer.
  void acknowledge() { report(resend::nothing, false, all_->counts.acknowledgements); }
  [[nodiscard]] report_body state() const noexcept;
  /// Notes that packets for the peer wait for room; undone by `stop_lagging`.
  void lag();
  void stop_lagging() noexcept { lags_ = false; }

 private:
  bool transmit(sequence number, bool first_time, clock::time_point now);
  bool transmit_signal(const sent_signal& s);
  void acknowledged(sequence upto, std::uint32_t released, bool refused, const lazy_time& now);
  bool deliver(std::span<const std::byte> bytes, const lazy_time& now);
  void report(resend what, bool solicited, std::uint64_t& counter);
  void ask();

  int peer_;
  shared_by_streams* all_;
  send_window out_;
  receive_window in_;
  pacing pace_;
  message_credits credits_;
  sent_signal signal_out_;
  received_signals signals_in_;
  unsigned waiting_calls_ = 0;  ///< calls since the wait until everything has arrived began
  retry_timer question_;        ///< for questions to the peer about what it has received
  retry_timer request_;         ///< for requests of awaited data
  struct {
    bool reported = false;
    clock::time_point since{};  ///< zero if there is none
  } hole_;                      ///< a gap in the received packets
  bool lags_ = false;
  bool refuses_ = false;
  std::string broken_;
};

template <class Body>
void stream::push(packet_type type, std::uint8_t flags, call_id call, const Body& body,
                  std::span<const std::byte> payload, clock::time_point now) {
  std::byte* block = all_->pool.take();
  packet_header head{};
  head.number = out_.next();
  head.type = static_cast<std::uint8_t>(type);
  head.flags = flags;
  head.call = static_cast<std::uint32_t>(call.number);
  head.signature = call.signature;
  std::memcpy(block, &head, sizeof head);
  const auto fixed = wire(body);
  if (!fixed.empty()) std::memcpy(block + sizeof head, fixed.data(), fixed.size());
  if (!payload.empty()) copy_bytes(block + sizeof head + fixed.size(), payload.data(), payload.size());
  out_.push(block, static_cast<std::uint32_t>(sizeof head + fixed.size() + payload.size()));
  ++all_->counts.packets;
  send_waiting(now);
}

}  // namespace chorale::transport::reliable
