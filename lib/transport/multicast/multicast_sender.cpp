// SPDX-License-Identifier: Apache-2.0
#include "multicast_sender.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <chorale/core/copy_bytes.hpp>
#include <chorale/transport/wire/mailbox.hpp>

#include "../wire/messages.hpp"

namespace chorale::transport {
namespace {

constexpr auto longest_question_interval = std::chrono::milliseconds{100};

}  // namespace

multicast_sender::multicast_sender(multicast_port& port, const multicast_options& options,
                                   multicast_statistics& counters)
    : port_(&port),
      options_(&options),
      counters_(&counters),
      receivers_(static_cast<std::size_t>(options.size)) {}

template <class Head>
bool multicast_sender::send(std::uint32_t place, multicast_kind kind, const Head& head,
                            std::span<const std::byte> payload, time_point now) {
  if (!port_->is_free(place)) return false;
  const struct {
    datagram_header header;
    Head head;
  } front{{datagram_header::expected_magic, raw(kind), 0, options_->secret, options_->rank,
           static_cast<std::uint32_t>(sizeof head + payload.size())},
          head};
  static_assert(sizeof front == sizeof(datagram_header) + sizeof(Head));
  // No rank needs the previous content any more, and the next one must not be retransmitted before it was
  // sent.
  kept_[place].bytes = 0;
  std::byte* const datagram = port_->place(place).data();
  std::memcpy(datagram, &front, sizeof front);
  if (!payload.empty()) copy_bytes(datagram + sizeof front, payload.data(), payload.size());
  const std::size_t bytes = sizeof front + payload.size();
  if (!port_->multicast(place, bytes)) return false;
  kept_[place] = {bytes, now};
  return true;
}

bool multicast_sender::try_signal(call_id call, time_point now) {
  const auto place = multicast_window + static_cast<std::uint32_t>(counters_->signals % signal_places);
  const std::uint64_t word = signal_word(call);
  if (!send(place, multicast_kind::signal, word, {}, now)) return false;
  signal_ = word;
  signal_place_ = place;
  ++counters_->signals;
  return true;
}

bool multicast_sender::try_send(call_id call, std::span<const std::byte> bytes, time_point now) {
  stopped_ = !window_is_open();
  if (stopped_) return false;
  const message_head head{next_, call.signature, call.number};
  if (!send(next_ % multicast_window, multicast_kind::message, head, bytes, now)) return false;
  ++next_;
  ++counters_->messages;
  next_question_ = {};
  return true;
}

bool multicast_sender::update_window() noexcept {
  lowest_ = next_;
  for (int r = 0; r < options_->size; ++r) {
    if (r != options_->rank && !port_->has_left(r) && distance(at(r).released, lowest_) > 0)
      lowest_ = at(r).released;
  }
  return next_ - lowest_ < multicast_window;
}

int multicast_sender::slowest() noexcept {
  if (!window_is_open()) {
    for (int r = 0; r < options_->size; ++r) {
      if (r != options_->rank && at(r).released == lowest_ && !port_->has_left(r)) return r;
    }
  }
  return options_->rank == 0 ? options_->size - 1 : 0;
}

void multicast_sender::repair(std::uint32_t place, time_point now) {
  // The request may have crossed a recent send, or another rank has asked before.
  if (now - kept_[place].sent < options_->patience / 2) return;
  if (!port_->multicast(place, kept_[place].bytes)) return;  // it will be requested again
  kept_[place].sent = now;
  ++counters_->repairs;
}

bool multicast_sender::on_signal_missing(std::span<const std::byte> body, time_point now) {
  const auto word = parse<std::uint64_t>(body);
  if (!word) return false;
  ++counters_->naks_received;
  if (signal_ != 0 && reached(signal_, *word)) repair(signal_place_, now);
  return true;
}

bool multicast_sender::on_messages_missing(std::span<const std::byte> body, time_point now) {
  const auto missing = parse<missing_messages>(body);
  if (!missing || missing->zero != 0) return false;
  const auto behind = distance(missing->first, next_);
  if (behind < 0) return false;
  if (behind > static_cast<std::int32_t>(multicast_window)) {
    // A delayed datagram: the rank has meanwhile received the missing messages, otherwise this sender could
    // not have advanced so far.
    ++counters_->duplicates;
    return true;
  }
  ++counters_->naks_received;
  for (std::int32_t i = 0; i < behind; ++i) {
    const std::uint32_t place = (missing->first + static_cast<std::uint32_t>(i)) % multicast_window;
    if ((missing->here >> i & 1) == 0 && kept_[place].bytes != 0) repair(place, now);
  }
  return true;
}

bool multicast_sender::on_acknowledgement(int from, std::span<const std::byte> body) noexcept {
  const auto state = parse<message_state>(body);
  // No rank can have received messages that were not sent, or released messages that have not arrived.
  if (!state || distance(state->released, state->arrived) < 0 || distance(state->arrived, next_) < 0 ||
      (state->signal != 0 && (signal_ == 0 || !reached(signal_, state->signal))))
    return false;
  receiver& r = at(from);
  if (distance(r.released, state->released) > 0) r.released = state->released;
  if (distance(r.arrived, state->arrived) > 0) r.arrived = state->arrived;
  if (state->signal != 0 && (r.signal == 0 || reached(state->signal, r.signal))) r.signal = state->signal;
  return true;
}

template <class Lags>
void multicast_sender::ask_when_due(time_point now, Lags&& lags) {
  if (next_question_ == time_point{}) {
    question_interval_ = options_->patience;
    next_question_ = now + question_interval_;
  }
  if (now < next_question_) return;
  question_interval_ = std::min<clock::duration>(2 * question_interval_, longest_question_interval);
  next_question_ = now + question_interval_;
  const sender_state mine{next_, 0, signal_};
  for (int r = 0; r < options_->size; ++r) {
    if (r == options_->rank || port_->has_left(r) || !lags(at(r))) continue;
    if (port_->send_to(r, multicast_kind::question, wire(mine), true)) ++counters_->questions;
    // A rank that has not joined the group yet cannot answer the question.
    if (leaving_) port_->ask_for_life(r);
  }
}

void multicast_sender::progress(time_point now) {
  if (stopped_ && !window_is_open())
    ask_when_due(now, [this](const receiver& r) { return next_ - r.released >= multicast_window; });
}

bool multicast_sender::lacks_something(const receiver& r) const noexcept {
  return r.arrived != next_ || (signal_ != 0 && (r.signal == 0 || !reached(r.signal, signal_)));
}

bool multicast_sender::settle(time_point now) {
  bool all = true;
  for (int r = 0; r < options_->size && all; ++r)
    all = r == options_->rank || port_->is_lost(r) || !lacks_something(at(r));
  if (all) return true;
  if (!leaving_) {
    leaving_ = true;
    next_question_ = now;
    question_interval_ = options_->patience;
  }
  ask_when_due(now, [this](const receiver& r) { return lacks_something(r); });
  return false;
}

}  // namespace chorale::transport
