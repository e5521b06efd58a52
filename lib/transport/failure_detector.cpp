// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <chorale/transport/failure_detector.hpp>

namespace chorale::transport {

failure_detector::failure_detector(int peers, const limits& l)
    : limits_(l), peers_(static_cast<std::size_t>(peers)) {
  suspects_.reserve(peers_.size());
  dead_.reserve(peers_.size());
  leaving_.reserve(peers_.size());
}

void failure_detector::advance_to(time_point now) noexcept {
  if (last_look_ && now > *last_look_) attended_ += std::min<duration>(now - *last_look_, longest_gap);
  if (!last_look_ || now > *last_look_) last_look_ = now;
  for (const int peer : leaving_) at(peer).left = attended_;
  leaving_.clear();
}

void failure_detector::hear(int peer) noexcept {
  peer_state& p = at(peer);
  p.heard = attended_;
  p.was_heard = true;
  if (p.questions == 0) return;
  p.questions = 0;
  std::erase(suspects_, peer);
}

void failure_detector::ask(int peer) {
  peer_state& p = at(peer);
  if (is_gone(peer)) return;
  if (p.questions == 0) {
    suspects_.push_back(peer);
    p.asked = attended_;
  }
  ++p.questions;
}

void failure_detector::leave(int peer) noexcept {
  if (has_left(peer)) return;
  at(peer).left = attended_;
  leaving_.push_back(peer);
  ++left_;
  // Its last question needs no answer, and the end of its process is not a failure.
  std::erase(suspects_, peer);
  std::erase(dead_, peer);
}

void failure_detector::die(int peer) noexcept {
  if (is_gone(peer)) return;
  at(peer).died = attended_;
  dead_.push_back(peer);
  std::erase(suspects_, peer);
}

failure_detector::duration failure_detector::silence_of(int peer) const noexcept {
  const peer_state& p = at(peer);
  return p.questions == 0 || is_gone(peer) ? duration::zero() : attended_ - std::max(p.heard, p.asked);
}

bool failure_detector::is_silent(int peer) const noexcept {
  return at(peer).questions >= fewest_questions && silence_of(peer) >= limits_.silence;
}

failure_detector::wait failure_detector::begin(int peer) const noexcept {
  return {peer, attended_, attended_ + limits_.stall, limits_.stall, {}, attention::waits};
}

bool failure_detector::all_left(const wait& w) const noexcept {
  const auto long_ago = [&](const peer_state& p) {
    return p.left && attended_ - std::max(*p.left, w.since) > last_messages;
  };
  if (w.peer >= 0) return long_ago(at(w.peer));
  // This rank itself is counted among the peers, and has not left.
  return left_ > 0 && static_cast<std::size_t>(left_) + 1 >= peers_.size() &&
         std::all_of(peers_.begin(), peers_.end(),
                     [&](const peer_state& p) { return !p.left || long_ago(p); });
}

failure_detector::verdict failure_detector::end_of(const wait& w) const noexcept {
  for (const int peer : dead_) {
    const duration grace = peer == w.peer       ? duration{last_messages}
                           : at(peer).is_denied ? duration{farewell}
                                                : farewell + limits_.silence;
    if (attended_ - std::max(*at(peer).died, w.since) > grace) return {outcome::dead, peer};
  }
  if (all_left(w)) return {outcome::left, w.peer};
  for (const int peer : suspects_) {
    const bool is_awaited = w.peer < 0 || w.peer == peer;
    if (is_awaited && is_silent(peer) && !is_seen_running(peer)) return {outcome::silent, peer};
  }
  if (w.how == attention::waits && limits_.deadline != duration::zero() && waited(w) > limits_.deadline)
    return {outcome::deadline, w.peer};
  return {};
}

failure_detector::verdict failure_detector::judge(wait& w) const noexcept {
  const verdict end = end_of(w);
  const verdict before = std::exchange(w.suspicion, end);
  if (end.what != outcome::keep_waiting) return end == before ? end : verdict{};
  if (w.how != attention::passes && attended_ >= w.next_report) {
    w.report_interval *= 2;
    w.next_report = attended_ + w.report_interval;
    return {outcome::stalled, w.peer};
  }
  return {};
}

}  // namespace chorale::transport
