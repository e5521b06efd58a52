// Multicasts as their receivers have them: put in order, waited for, asked for again.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <chorale/transport/endpoint.hpp>

#include "messages.hpp"
#include "multicast_messages.hpp"

namespace chorale::transport {
namespace {

/// NAKs of a rank that waits for long come no faster than that, nor those of all ranks faster than one in a
/// millisecond.
constexpr auto shortest_pause = std::chrono::milliseconds{20};
constexpr auto pause_for_each_rank = std::chrono::milliseconds{1};
/// The first NAK comes after so many times the least patience at the latest: waits are long where others are
/// late, or have lost something themselves, which tells nothing of how long a multicast takes.
constexpr int most_patience = 8;

}  // namespace

void multicast_group::drain() {
  port_.poll([this](std::span<const std::byte> datagram) { take_multicast(datagram); });
}

void multicast_group::take_multicast(std::span<const std::byte> datagram) {
  const auto read = read_datagram(datagram, owner_->job(), owner_->size());
  if (!read) return refuse();
  if (read->source == owner_->rank()) return;
  stream& s = from(read->source);
  if (read->kind == raw(multicast_kind::message)) {
    store(s, read->body);
  } else if (const auto word = parse<std::uint64_t>(read->body);
             read->kind == raw(multicast_kind::signal) && word && *word != 0) {
    if (s.signal != 0 && reached(s.signal, *word))
      ++counters_.duplicates;
    else
      s.signal = *word;
  } else {
    return refuse();
  }
  heard_ = true;
}

void multicast_group::store(stream& s, std::span<const std::byte> body) {
  message_head head;
  if (body.size() < sizeof head || body.size() > sizeof head + payload_bytes_) return refuse();
  std::memcpy(&head, body.data(), sizeof head);
  const auto payload = body.subspan(sizeof head);
  const auto ahead = distance(s.arrived, head.sequence);
  if (ahead < 0) {
    ++counters_.duplicates;
    return;
  }
  // A sender does not go beyond its window.
  if (distance(s.released, head.sequence) >= static_cast<std::int32_t>(window)) return refuse();
  if ((s.beyond >> ahead & 1) != 0) {
    ++counters_.duplicates;
    return;
  }
  if (s.ring.empty()) s.ring.resize(window * payload_bytes_);
  const std::size_t place = head.sequence % window;
  if (!payload.empty()) std::memcpy(s.ring.data() + place * payload_bytes_, payload.data(), payload.size());
  s.entries[place] = {static_cast<std::uint32_t>(payload.size()), head.signature, head.call};
  s.beyond |= std::uint64_t{1} << ahead;
  for (; (s.beyond & 1) != 0; s.beyond >>= 1) ++s.arrived;
  if (distance(s.top, head.sequence) >= 0) s.top = head.sequence + 1;
}

bool multicast_group::try_signalled(int root, epoch now) {
  const std::lock_guard hold{owner_->lock()};
  const stream& s = from(root);
  const std::uint64_t wanted = signal_word(now);
  if (s.signal == 0 || !reached(s.signal, wanted)) {
    drain();
    if (s.signal == 0 || !reached(s.signal, wanted)) {
      miss(root, false, wanted);
      return false;
    }
  }
  if (s.signal != wanted && same_call(s.signal, wanted)) {
    owner_->mismatch(root, now);
    return false;
  }
  found();
  return true;
}

bool multicast_group::try_receive(int root, epoch now, std::span<const std::byte>& message) {
  const std::lock_guard hold{owner_->lock()};
  stream& s = from(root);
  if (s.arrived == s.taken) {
    drain();
    if (s.arrived == s.taken) {
      miss(root, true, s.arrived);
      return false;
    }
  }
  const std::size_t place = s.taken % window;
  const entry& e = s.entries[place];
  if (e.call != now.number || e.signature != now.signature) {
    owner_->mismatch(root, now);
    return false;
  }
  message = {s.ring.data() + place * payload_bytes_, e.bytes};
  ++s.taken;
  found();
  return true;
}

void multicast_group::release(int rank) noexcept {
  const std::lock_guard hold{owner_->lock()};
  stream& s = from(rank);
  ++s.released;
  // Each rank at another message, so that the sender does not hear all at once.
  constexpr std::uint32_t half = window / 2;
  const auto turn =
      half * static_cast<std::uint32_t>(owner_->rank()) / static_cast<std::uint32_t>(owner_->size());
  if ((s.released + turn) % half == 0 && acknowledge(rank)) ++counters_.acknowledgements;
}

bool multicast_group::acknowledge(int rank) noexcept {
  stream& s = from(rank);
  const message_state mine{s.released, s.arrived, s.signal};
  try {
    s.acknowledgement_due = !send_to(rank, raw(multicast_kind::acknowledgement), bytes_of(mine), false);
  } catch (...) {
    s.acknowledgement_due = true;  // a broken queue pair shows at the next send
  }
  acknowledgements_due_ = acknowledgements_due_ || s.acknowledgement_due;
  return !s.acknowledgement_due;
}

void multicast_group::take_question(int rank, std::span<const std::byte> body) {
  const auto theirs = parse<sender_state>(body);
  if (!theirs || theirs->zero != 0) return refuse();
  drain();
  stream& s = from(rank);
  const auto ahead = distance(s.arrived, theirs->next);
  if (ahead > static_cast<std::int32_t>(window)) return refuse();
  if (ahead >= 0 && distance(s.top, theirs->next) > 0) s.top = theirs->next;
  if (acknowledge(rank)) ++counters_.answers;
  if (s.top != s.arrived) send_nak(rank, true, 0);
  if (theirs->signal != 0 && (s.signal == 0 || !reached(s.signal, theirs->signal)))
    send_nak(rank, false, theirs->signal);
}

void multicast_group::miss(int rank, bool message, std::uint64_t what) noexcept {
  if (absence_.from == rank && absence_.message == message && absence_.what == what) return;
  absence_ = {};
  absence_.from = rank;
  absence_.message = message;
  absence_.what = what;
}

void multicast_group::found() noexcept {
  if (absence_.from < 0) return;
  // A wait that ended only after a NAK says nothing of how long others are.
  if (absence_.asked == 0) {
    const double waited =
        absence_.since == steady::time_point{}
            ? 0.0
            : static_cast<double>(std::chrono::nanoseconds{steady::now() - absence_.since}.count());
    deviation_ += (std::abs(waited - usual_wait_) - deviation_) / 4;
    usual_wait_ += (waited - usual_wait_) / 8;
  }
  waits_known_ = true;
  absence_.from = -1;
}

bool multicast_group::is_here(const absence& a) noexcept {
  const stream& s = from(a.from);
  if (a.message) return s.arrived != static_cast<std::uint32_t>(a.what);
  return s.signal != 0 && reached(s.signal, a.what);
}

steady::duration multicast_group::patience() const noexcept {
  const steady::duration least = owner_->settings().multicast_patience;
  if (!waits_known_) return most_patience * least;
  const auto known = std::chrono::nanoseconds{static_cast<std::int64_t>(usual_wait_ + 4 * deviation_)};
  return std::clamp<steady::duration>(known, least, most_patience * least);
}

steady::duration multicast_group::pause() const noexcept {
  const auto longest = std::max<steady::duration>(shortest_pause, pause_for_each_rank * owner_->size());
  return std::min<steady::duration>(
      patience() * (2 + static_cast<int>(std::min(absence_.asked, 1000U))),
      std::max<steady::duration>(longest, owner_->settings().multicast_patience));
}

steady::duration multicast_group::spread(steady::duration over) noexcept {
  // Two ranks never collide; of many each takes a moment of its own, so that most hear the repair before.
  const int others = std::min(owner_->size() - 2, 16);
  noise_ = noise_ * 6364136223846793005ULL + 1442695040888963407ULL;
  return over * others / 8 * static_cast<int>(noise_ >> 56) / 256;
}

void multicast_group::tend_absence() {
  absence& a = absence_;
  if (is_here(a) || owner_->departed(a.from)) return;
  const auto now = steady::now();
  const steady::duration least = owner_->settings().multicast_patience;
  if (a.since == steady::time_point{}) {
    a.since = now;
    // Who has heard nothing at all has come late, most likely after the message.
    const auto wait = a.message && !heard_ ? steady::duration{} : patience();
    a.due = now + wait + spread(std::max(wait, least));
  }
  const stream& s = from(a.from);
  if (a.message && !a.overtaken && s.top != s.arrived) {
    a.overtaken = true;
    a.due = std::min(a.due, now + least + spread(least));
  }
  if (now < a.due) return;
  send_nak(a.from, a.message, a.what);
  const auto wait = pause();
  ++a.asked;
  a.due = now + wait + spread(wait);
}

void multicast_group::send_nak(int rank, bool message, std::uint64_t word) {
  const stream& s = from(rank);
  const missing_messages missing{s.arrived, 0, s.beyond};
  const bool sent = message ? send_to(rank, raw(multicast_kind::message_missing), bytes_of(missing), true)
                            : send_to(rank, raw(multicast_kind::signal_missing), bytes_of(word), true);
  if (sent) ++counters_.naks_sent;
}

}  // namespace chorale::transport
