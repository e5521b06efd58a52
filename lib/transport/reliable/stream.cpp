// SPDX-License-Identifier: Apache-2.0
// The sending side of a stream, with retransmission.
#include "stream.hpp"

namespace chorale::transport::reliable {

bool stream::transmit(sequence number, bool first_time, clock::time_point now) {
  send_window::entry& e = out_.at(number);
  packet_header head;
  std::memcpy(&head, e.block, sizeof head);
  head.acknowledged = in_.expected();
  head.released = credits_.released();
  if (first_time && (head.flags & wants_report) == 0 && pace_.wants_report(number, out_.oldest()))
    head.flags |= wants_report;
  if (refuses_) head.flags |= has_refused;
  std::memcpy(e.block, &head, sizeof head);
  // Requests wake the target's service thread, since the target may be outside of calls.
  const auto type = static_cast<packet_type>(head.type);
  const bool solicited = type == packet_type::read_request || type == packet_type::atomic_request;
  if (!all_->port.send(peer_, stream_kind::packet, {e.block, e.bytes}, solicited)) return false;
  e.sent_at = now;
  credits_.mark_acknowledged();
  if (!first_time) {
    pace_.on_resent();
    ++all_->counts.resent;
  } else if ((head.flags & wants_report) != 0) {
    pace_.on_asked(number, now);
  }
  return true;
}

void stream::send_waiting(clock::time_point now) {
  while (out_.unsent() != out_.next()) {
    if (!transmit(out_.unsent(), true, now)) return lag();
    out_.mark_sent();
  }
}

void stream::lag() {
  if (lags_) return;
  lags_ = true;
  all_->lagging.push_back(peer_);
}

bool stream::transmit_signal(const sent_signal& s) {
  const signal_body b{s.word, s.after, in_.expected(), credits_.released(), refuses_ ? 1U : 0U};
  if (!all_->port.send(peer_, stream_kind::signal, wire(b), false)) return false;
  credits_.mark_acknowledged();
  return true;
}

bool stream::send_signal(std::uint64_t word, clock::time_point now) {
  send_waiting(now);
  const sent_signal s{word, out_.next(), now, false};
  if (!transmit_signal(s)) return false;
  signal_out_ = s;
  ++all_->counts.signals;
  return true;
}

void stream::acknowledged(sequence upto, std::uint32_t released, bool refused, const lazy_time& now) {
  const std::uint32_t count = out_.acknowledge(upto);
  if (count != 0) {
    if (pace_.is_timed(upto)) pace_.sample(now);
    pace_.on_arrival(count);
    question_.stop();
    all_->sink.on_arrival(*this, now);
  }
  credits_.on_acknowledged(released);
  if (refused && broken_.empty())
    broken_ = "rank " + std::to_string(peer_) + " refused an access to its memory";
}

report_body stream::state() const noexcept {
  report_body b{};
  b.held = in_.held();
  b.signal = signals_in_.newest();
  b.acknowledged = in_.expected();
  b.released = credits_.released();
  b.refused = refuses_ ? 1 : 0;
  return b;
}

void stream::take_state(const report_body& b, const lazy_time& now) {
  acknowledged(b.acknowledged, b.released, b.refused != 0, now);
  if (b.signal == signal_out_.word) signal_out_.confirmed = true;
}

void stream::report(resend what, bool solicited, std::uint64_t& counter) {
  report_body b = state();
  b.wanted = static_cast<std::uint32_t>(what);
  if (!all_->port.send(peer_, stream_kind::report, wire(b), solicited)) return;
  credits_.mark_acknowledged();
  ++counter;
}

void stream::on_report(const report_body& b, const lazy_time& when) {
  take_state(b, when);
  const auto wanted = static_cast<resend>(b.wanted);
  if (wanted != resend::holes && wanted != resend::everything) return;
  const clock::time_point now = when;
  // Packets sent a moment ago may still be in flight.
  const auto young = pace_.trip().transit();
  bool resent = false;
  if (b.acknowledged == out_.oldest()) {
    out_.for_missing(b.held, wanted == resend::everything, [&](sequence number, const send_window::entry& e) {
      if (now - e.sent_at >= young && transmit(number, false, now)) resent = true;
    });
  }
  if (resent) pace_.on_loss();
  if (wanted != resend::everything) return;
  if (signal_out_.is_missed(b.signal) && now - signal_out_.when >= young && transmit_signal(signal_out_)) {
    signal_out_.when = now;
    ++all_->counts.resent;
    resent = true;
  }
  // The asking rank needs an answer, at least to know that this rank is alive.
  if (!resent) report(resend::nothing, false, all_->counts.answers);
}

void stream::ask() {
  const question_body b{signal_out_.word, out_.unsent(), 0};
  if (all_->port.send(peer_, stream_kind::question, wire(b), true)) ++all_->counts.questions;
}

void stream::request_report(clock::time_point now) {
  send_waiting(now);
  if (!question_.continue_at(now, pace_.trip()) || !question_.is_due(now)) return;
  ask();
  question_.repeat(now, pace_.trip());
}

void stream::request_report_soon(clock::time_point now) {
  send_waiting(now);
  if (!question_.continue_at(now, pace_.trip())) waiting_calls_ = 0;
  if (waiting_calls_ < patient_calls && ++waiting_calls_ == patient_calls) {
    if (out_.unsent() == out_.next()) return ask();
    // The peer cannot have reported packets that still waited for room in the port.
    --waiting_calls_;
  }
  if (!question_.is_due(now)) return;
  ask();
  question_.repeat(now, pace_.trip());
}

bool stream::confirm(clock::time_point now) {
  send_waiting(now);
  if (!question_.runs())
    question_.start(now, pace_.trip());
  else if (question_.is_due(now))
    question_.repeat(now, pace_.trip());
  else
    return false;
  ask();
  return true;
}

}  // namespace chorale::transport::reliable
