// Multicasts as their sender has them: kept until all have them, and sent again for who asks.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <chorale/transport/endpoint.hpp>

#include "messages.hpp"
#include "multicast_address.hpp"
#include "multicast_messages.hpp"

namespace chorale::transport {
namespace {

/// Signals that may be under way; each has a place of its own.
constexpr std::uint32_t signal_places = 8;
/// What may come while this rank is elsewhere: the windows of four senders.
constexpr std::uint32_t receives = 4 * multicast_group::window;
constexpr auto longest_question_interval = std::chrono::milliseconds{100};

}  // namespace

static_assert((multicast_group::window & (multicast_group::window - 1)) == 0 && multicast_group::window < 64,
              "places are found by the low bits of a sequence number, and a NAK has a bit for each");

multicast_port::options multicast_group::options_for(const endpoint& owner) {
  require_multicast(owner.device(), owner.local_port(), owner.settings());
  return {.group = multicast_gid(owner.device(), owner.local_port(), owner.job()),
          .is_managed = is_managed(owner.device(), owner.local_port(), owner.settings()),
          .deadline = owner.settings().silence,
          .qkey = static_cast<std::uint32_t>(owner.job() >> 17) & 0x7fffffffU,
          .datagram_bytes = sizeof(datagram_header) + sizeof(message_head) + owner.multicast_bytes(),
          .receives = std::min(receives, static_cast<std::uint32_t>(owner.device().attributes().max_qp_wr)),
          .places = window + signal_places,
          .pkey_index = owner.settings().pkey_index};
}

multicast_group::multicast_group(endpoint& owner)
    : owner_(&owner),
      options_(options_for(owner)),
      payload_bytes_(owner.multicast_bytes()),
      port_(owner.device(), owner.domain(), owner.local_port(), options_),
      streams_(static_cast<std::size_t>(owner.size())),
      receivers_(static_cast<std::size_t>(owner.size())),
      last_sent_(window + signal_places),
      noise_(owner.job() ^ static_cast<std::uint64_t>(owner.rank()) * 0x9e3779b97f4a7c15ULL) {}

std::size_t multicast_group::write(std::uint32_t place, std::uint16_t kind, std::span<const std::byte> head,
                                   std::span<const std::byte> payload) {
  const datagram_header header{datagram_header::expected_magic,
                               kind,
                               0,
                               owner_->job(),
                               owner_->rank(),
                               static_cast<std::uint32_t>(head.size() + payload.size())};
  std::byte* end = port_.place(place).data();
  for (const auto part : {bytes_of(header), head, payload}) {
    if (!part.empty()) std::memcpy(end, part.data(), part.size());
    end += part.size();
  }
  return sizeof header + head.size() + payload.size();
}

bool multicast_group::try_signal(epoch now) {
  const std::lock_guard hold{owner_->lock()};
  drain();
  const std::uint32_t place = window + static_cast<std::uint32_t>(counters_.signals % signal_places);
  if (!port_.is_free(place)) return false;
  const std::uint64_t word = signal_word(now);
  if (!port_.send(place, write(place, raw(multicast_kind::signal), bytes_of(word), {}))) return false;
  last_sent_[place] = steady::now();
  signal_ = word;
  signal_place_ = place;
  ++counters_.signals;
  return true;
}

bool multicast_group::window_is_open() {
  const auto open = [this] { return next_ - lowest_ < window; };
  if (open()) [[likely]]
    return true;
  lowest_ = next_;
  for (int r = 0; r < owner_->size(); ++r) {
    if (r != owner_->rank() && !owner_->departed(r) && distance(at(r).released, lowest_) > 0)
      lowest_ = at(r).released;
  }
  return open();
}

int multicast_group::slowest() {
  const std::lock_guard hold{owner_->lock()};
  if (!window_is_open()) {
    for (int r = 0; r < owner_->size(); ++r) {
      if (r != owner_->rank() && at(r).released == lowest_ && !owner_->departed(r)) return r;
    }
  }
  return owner_->rank() == 0 ? owner_->size() - 1 : 0;
}

bool multicast_group::try_send(epoch now, std::span<const std::byte> bytes) {
  if (bytes.size() > payload_bytes_)
    throw error(errc::invalid_argument, fmt::format("multicast of {} bytes by rank {}: a message takes {}",
                                                    bytes.size(), owner_->rank(), payload_bytes_));
  const std::lock_guard hold{owner_->lock()};
  drain();
  if (!window_is_open()) {
    owner_->read_datagrams();
    window_closed_ = !window_is_open();
    if (window_closed_) return false;
  }
  const std::uint32_t place = next_ % window;
  if (!port_.is_free(place)) return false;
  const message_head head{next_, now.signature, now.number};
  const std::size_t size = write(place, raw(multicast_kind::message), bytes_of(head), bytes);
  if (!port_.send(place, size)) return false;
  sizes_[place] = size;
  last_sent_[place] = steady::now();
  ++next_;
  ++counters_.messages;
  next_question_ = {};
  return true;
}

void multicast_group::send_repair(std::uint32_t place) {
  // Who asks now has not seen yet what was sent a moment ago, or another has asked before.
  const auto now = steady::now();
  if (now - last_sent_[place] < owner_->settings().multicast_patience / 2) return;
  const std::size_t size = place < window ? sizes_[place] : sizeof(datagram_header) + sizeof(std::uint64_t);
  if (!port_.send(place, size)) return;  // it will be asked for again
  last_sent_[place] = now;
  ++counters_.repairs;
}

void multicast_group::take_signal_missing(std::span<const std::byte> body) {
  const auto word = parse<std::uint64_t>(body);
  if (!word) return refuse();
  ++counters_.naks_received;
  if (signal_ != 0 && reached(signal_, *word)) send_repair(signal_place_);
}

void multicast_group::take_messages_missing(std::span<const std::byte> body) {
  const auto missing = parse<missing_messages>(body);
  if (!missing || missing->zero != 0) return refuse();
  const auto behind = distance(missing->first, next_);
  if (behind < 0) return refuse();
  if (behind > static_cast<std::int32_t>(window)) {
    // A datagram that took long: the rank has what it missed, or this one could not have gone on so far.
    ++counters_.duplicates;
    return;
  }
  ++counters_.naks_received;
  for (std::int32_t i = 0; i < behind; ++i) {
    const std::uint32_t place = (missing->first + static_cast<std::uint32_t>(i)) % window;
    if ((missing->here >> i & 1) == 0 && sizes_[place] != 0) send_repair(place);
  }
}

void multicast_group::take_acknowledgement(int rank, std::span<const std::byte> body) {
  const auto state = parse<message_state>(body);
  // Nobody has what was not sent, or gives back what has not arrived.
  if (!state || distance(state->released, state->arrived) < 0 || distance(state->arrived, next_) < 0 ||
      (state->signal != 0 && (signal_ == 0 || !reached(signal_, state->signal))))
    return refuse();
  receiver& r = at(rank);
  if (distance(r.released, state->released) > 0) r.released = state->released;
  if (distance(r.arrived, state->arrived) > 0) r.arrived = state->arrived;
  if (state->signal != 0 && (r.signal == 0 || reached(state->signal, r.signal))) r.signal = state->signal;
}

void multicast_group::ask(int rank) {
  const sender_state mine{next_, 0, signal_};
  if (send_to(rank, raw(multicast_kind::question), bytes_of(mine), true)) ++counters_.questions;
  // A rank that has not joined the group yet has no answer to that, and gives a sign of life here.
  if (leaving_) owner_->ask(rank, owner_->current());
}

template <class Behind>
void multicast_group::ask_when_due(Behind&& behind) {
  const auto now = steady::now();
  if (next_question_ == steady::time_point{}) {
    question_interval_ = owner_->settings().multicast_patience;
    next_question_ = now + question_interval_;
  }
  if (now < next_question_) return;
  question_interval_ = std::min<steady::duration>(2 * question_interval_, longest_question_interval);
  next_question_ = now + question_interval_;
  for (int r = 0; r < owner_->size(); ++r) {
    if (r != owner_->rank() && !owner_->departed(r) && behind(at(r))) ask(r);
  }
}

bool multicast_group::settle() {
  const std::lock_guard hold{owner_->lock()};
  drain();
  const auto behind = [this](const receiver& r) {
    return r.arrived != next_ || (signal_ != 0 && (r.signal == 0 || !reached(r.signal, signal_)));
  };
  bool all = true;
  for (int r = 0; r < owner_->size() && all; ++r)
    all = r == owner_->rank() || owner_->is_lost(r) || !behind(at(r));
  if (!all) {
    if (!leaving_) {
      leaving_ = true;
      next_question_ = steady::now();
      question_interval_ = owner_->settings().multicast_patience;
    }
    ask_when_due(behind);
  }
  return all;
}

void multicast_group::progress() {
  const std::lock_guard hold{owner_->lock()};
  drain();
  if (acknowledgements_due_) {
    acknowledgements_due_ = false;
    for (int r = 0; r < owner_->size(); ++r) {
      if (from(r).acknowledgement_due) acknowledge(r);
    }
  }
  if (absence_.from >= 0) tend_absence();
  if (window_closed_ && !window_is_open())
    ask_when_due([this](const receiver& r) { return next_ - r.released >= window; });
}

void multicast_group::take(int rank, std::uint16_t kind, std::span<const std::byte> body) {
  if (rank == owner_->rank()) return refuse();
  switch (static_cast<multicast_kind>(kind)) {
    case multicast_kind::signal_missing:
      return take_signal_missing(body);
    case multicast_kind::message_missing:
      return take_messages_missing(body);
    case multicast_kind::acknowledgement:
      return take_acknowledgement(rank, body);
    case multicast_kind::question:
      return take_question(rank, body);
    default:
      return refuse();
  }
}

bool multicast_group::send_to(int rank, std::uint16_t kind, std::span<const std::byte> body, bool solicited) {
  return owner_->send_datagram(rank, kind, body, {}, solicited);
}

void multicast_group::refuse() noexcept {
  ++counters_.refused;
  owner_->refuse_datagram();
}

multicast_statistics multicast_group::statistics() const {
  const std::lock_guard hold{owner_->lock()};
  return counters_;
}

}  // namespace chorale::transport
