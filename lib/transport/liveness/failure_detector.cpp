// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>
#include <utility>

#include <chorale/transport/liveness/failure_detector.hpp>

namespace chorale::transport {

failure_detector::failure_detector(int peers, const limits& l)
    : limits_(l), heard_(static_cast<std::size_t>(peers)), left_(static_cast<std::size_t>(peers)) {}

void failure_detector::advance_to(time_point now) noexcept {
  if (last_look_ && now > *last_look_) attended_ += std::min<duration>(now - *last_look_, longest_gap);
  if (!last_look_ || now > *last_look_) last_look_ = now;
  for (const int peer : leaving_) left_at_.find(peer)->second = attended_;
  leaving_.clear();
}

void failure_detector::hear(int peer) noexcept {
  heard_[static_cast<std::size_t>(peer)] = true;
  if (suspects_.empty()) return;
  const auto p = states_.find(peer);
  if (p == states_.end() || p->second.questions == 0) return;
  p->second.questions = 0;
  std::erase(suspects_, peer);
}

void failure_detector::ask(int peer) {
  if (is_gone(peer)) return;
  peer_state& p = states_[peer];
  if (p.questions == 0) {
    suspects_.push_back(peer);
    p.asked = attended_;
  }
  ++p.questions;
}

void failure_detector::leave(int peer) noexcept {
  if (has_left(peer)) return;
  left_[static_cast<std::size_t>(peer)] = true;
  ++left_count_;
  try {
    leaving_.reserve(leaving_.size() + 1);
    left_at_.emplace(peer, attended_);
    leaving_.push_back(peer);
  } catch (const std::bad_alloc&) {
    // Without memory the peer counts as having left long ago.
  }
  // Its last question needs no answer, and the end of its process is not a failure.
  std::erase(suspects_, peer);
  std::erase(dead_, peer);
}

void failure_detector::die(int peer) {
  if (is_gone(peer)) return;
  peer_state& p = states_[peer];
  dead_.push_back(peer);
  p.died = attended_;
  std::erase(suspects_, peer);
}

failure_detector::duration failure_detector::silence_of(int peer) const noexcept {
  const peer_state* const p = find(peer);
  return p == nullptr || p->questions == 0 || is_gone(peer) ? duration::zero() : attended_ - p->asked;
}

bool failure_detector::is_silent(int peer) const noexcept {
  const peer_state* const p = find(peer);
  return p != nullptr && p->questions >= fewest_questions && silence_of(peer) >= limits_.silence;
}

bool failure_detector::may_have_left(int peer) const noexcept {
  const peer_state* const p = find(peer);
  return is_stranger(peer) && p != nullptr && p->questions >= fewest_questions && !is_gone(peer);
}

bool failure_detector::is_seen_running(int peer) const noexcept {
  const peer_state* const p = find(peer);
  return p != nullptr && p->seen && attended_ - *p->seen <= seen_recently;
}

failure_detector::wait failure_detector::begin(int peer) const noexcept {
  return {peer, attended_, attended_ + limits_.stall, limits_.stall, {}, attention::waits};
}

bool failure_detector::are_all_gone_or_silent() const noexcept {
  const std::size_t others = left_.size() - 1;
  const auto left = static_cast<std::size_t>(left_count_);
  if (left + suspects_.size() < others) return false;
  const auto silent = std::count_if(suspects_.begin(), suspects_.end(),
                                    [this](int peer) { return is_stranger(peer) && is_silent(peer); });
  return left + static_cast<std::size_t>(silent) >= others;
}

bool failure_detector::left_long_ago(int peer, const wait& w) const noexcept {
  const auto at = left_at_.find(peer);
  return at == left_at_.end() || attended_ - std::max(at->second, w.since) > last_messages;
}

bool failure_detector::all_left(const wait& w) const noexcept {
  if (w.peer >= 0) return has_left(w.peer) && left_long_ago(w.peer, w);
  return left_count_ > 0 && are_all_gone_or_silent() &&
         std::all_of(left_at_.begin(), left_at_.end(),
                     [&](const auto& one) { return left_long_ago(one.first, w); });
}

failure_detector::verdict failure_detector::end_of(const wait& w) const noexcept {
  for (const int peer : dead_) {
    const peer_state& p = *find(peer);
    const duration grace = peer == w.peer ? duration{last_messages}
                           : p.is_denied  ? duration{farewell}
                                          : farewell + limits_.silence;
    if (attended_ - std::max(*p.died, w.since) > grace) return {outcome::dead, peer};
  }
  if (all_left(w)) return {outcome::left, w.peer};
  const bool nobody_is_left = w.peer < 0 && left_count_ == 0 && are_all_gone_or_silent();
  for (const int peer : suspects_) {
    const bool is_awaited = w.peer < 0 ? nobody_is_left || !is_stranger(peer) : w.peer == peer;
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
