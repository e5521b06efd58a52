// SPDX-License-Identifier: Apache-2.0
// The receiving side of a stream, and requests for missing packets.
#include "stream.hpp"

namespace chorale::transport::reliable {
namespace {

/// Number of later packets that arrive before a missing one counts as lost.
constexpr int overtakers = 3;

}  // namespace

void stream::on_signal(const signal_body& b, const lazy_time& now) {
  acknowledged(b.acknowledged, b.released, b.refused != 0, now);
  signals_in_.take(b.word, b.after, in_.expected());
}

void stream::on_question(const question_body& b) {
  const bool behind = distance(in_.expected(), b.next) > 0 || signals_in_.lacks(b.signal);
  report(behind ? resend::everything : resend::nothing, false,
         behind ? all_->counts.resend_requests : all_->counts.answers);
}

void stream::on_packet(std::span<const std::byte> bytes, const packet& p, const lazy_time& now) {
  using verdict = receive_window::verdict;
  stream_statistics& counts = all_->counts;
  if (in_.judge(p.header.number) == verdict::beyond) {
    // No valid rank sends so far ahead: ignore it.
    ++counts.dropped;
    return;
  }
  acknowledged(p.header.acknowledged, p.header.released, (p.header.flags & has_refused) != 0, now);
  if (has_kept()) deliver_kept(now);
  switch (in_.judge(p.header.number)) {
    case verdict::beyond:
      return;
    case verdict::duplicate:
      ++counts.duplicates;
      break;
    case verdict::early:
      ++counts.early;
      if (!in_.keep(p.header.number, bytes)) ++counts.dropped;
      if (hole_.since == clock::time_point{}) hole_.since = now;
      // On a fabric that reorders packets, the missing one may only be late.
      if (!hole_.reported && __builtin_popcountll(in_.held()) >= overtakers) {
        hole_.reported = true;
        report(resend::holes, true, counts.resend_requests);
      }
      return;
    case verdict::expected:
      if (has_kept() || !all_->sink.deliver(*this, p, now)) {
        ++counts.dropped;
        return;
      }
      hole_ = {};
      request_.forget_failures();
      if (in_.advance()) deliver_kept(now);
      break;
  }
  // A service thread that answers a read may have gone to sleep; a report wakes it once there is room.
  if ((p.header.flags & wants_report) != 0)
    report(resend::nothing, static_cast<packet_type>(p.header.type) == packet_type::read_reply,
           counts.acknowledgements);
}

void stream::deliver_kept(const lazy_time& now) {
  for (auto* k = in_.kept_one(); k != nullptr; k = in_.kept_one()) {
    if (!deliver(k->span(), now)) return;
    in_.drop_kept();
    in_.advance();
  }
}

bool stream::deliver(std::span<const std::byte> bytes, const lazy_time& now) {
  const auto p = read_packet(bytes);
  return !p || all_->sink.deliver(*this, *p, now);
}

void stream::await(clock::time_point now) {
  send_waiting(now);
  const bool goes_on = request_.continue_at(now, pace_.trip());
  // There may be room for the next packet now.
  if (has_kept()) deliver_kept(now);
  if (!goes_on) return;
  if (hole_.since != clock::time_point{} && !hole_.reported && now - hole_.since > pace_.trip().transit()) {
    hole_.reported = true;
    report(resend::holes, true, all_->counts.resend_requests);
  }
  if (!request_.is_due(now)) return;
  report(resend::everything, true, all_->counts.resend_requests);
  request_.repeat(now, pace_.trip());
}

}  // namespace chorale::transport::reliable
