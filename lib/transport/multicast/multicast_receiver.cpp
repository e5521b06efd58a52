// SPDX-License-Identifier: Apache-2.0
#include "multicast_receiver.hpp"

#include <cstring>

#include <chorale/core/copy_bytes.hpp>
#include <chorale/transport/wire/mailbox.hpp>

namespace chorale::transport {
namespace {

bool has_reached(std::uint64_t signal, std::uint64_t wanted) noexcept {
  return signal != 0 && reached(signal, wanted);
}

}  // namespace

multicast_receiver::multicast_receiver(multicast_port& port, const multicast_options& options,
                                       multicast_statistics& counters)
    : port_(&port),
      options_(&options),
      counters_(&counters),
      streams_(static_cast<std::size_t>(options.size)),
      naks_(options.size, options.patience,
            options.secret ^ static_cast<std::uint64_t>(options.rank) * 0x9e3779b97f4a7c15ULL) {}

bool multicast_receiver::on_signal(int rank, std::span<const std::byte> body) noexcept {
  const auto word = parse<std::uint64_t>(body);
  if (!word || *word == 0) return false;
  heard_ = true;
  stream& s = from(rank);
  if (has_reached(s.signal, *word))
    ++counters_->duplicates;
  else
    s.signal = *word;
  return true;
}

bool multicast_receiver::on_message(int rank, std::span<const std::byte> body) {
  message_head head;
  if (body.size() < sizeof head || body.size() > sizeof head + options_->payload_bytes) return false;
  std::memcpy(&head, body.data(), sizeof head);
  const auto payload = body.subspan(sizeof head);
  stream& s = from(rank);
  const auto ahead = distance(s.arrived, head.sequence);
  // A valid sender does not exceed its window.
  if (ahead >= 0 && distance(s.released, head.sequence) >= static_cast<std::int32_t>(multicast_window))
    return false;
  heard_ = true;
  if (ahead < 0 || (s.beyond >> ahead & 1) != 0) {
    ++counters_->duplicates;
    return true;
  }
  if (s.ring.empty()) s.ring.resize(multicast_window * options_->payload_bytes);
  const std::size_t place = head.sequence % multicast_window;
  if (!payload.empty())
    copy_bytes(s.ring.data() + place * options_->payload_bytes, payload.data(), payload.size());
  s.entries[place] = {static_cast<std::uint32_t>(payload.size()), head.signature, head.call};
  s.beyond |= std::uint64_t{1} << ahead;
  for (; (s.beyond & 1) != 0; s.beyond >>= 1) ++s.arrived;
  if (distance(s.top, head.sequence) >= 0) s.top = head.sequence + 1;
  return true;
}

presence multicast_receiver::look_for_signal(int root, call_id call) const noexcept {
  const std::uint64_t seen = from(root).signal;
  const std::uint64_t wanted = signal_word(call);
  if (!has_reached(seen, wanted)) return presence::absent;
  return contradicts(seen, wanted) ? presence::of_another_call : presence::here;
}

presence multicast_receiver::look_for_message(int root, call_id call,
                                              std::span<const std::byte>& message) const noexcept {
  const stream& s = from(root);
  if (s.arrived == s.taken) return presence::absent;
  const std::size_t place = s.taken % multicast_window;
  const entry& e = s.entries[place];
  if (e.call != call.number || e.signature != call.signature) return presence::of_another_call;
  message = {s.ring.data() + place * options_->payload_bytes, e.bytes};
  return presence::here;
}

void multicast_receiver::wait_for_signal(int root, call_id call) noexcept {
  naks_.expect({root, false, signal_word(call)});
}

void multicast_receiver::wait_for_message(int root) noexcept {
  naks_.expect({root, true, from(root).arrived});
}

void multicast_receiver::take_message(int root, time_point now) noexcept {
  ++from(root).taken;
  naks_.end(now);
}

void multicast_receiver::release(int rank) noexcept {
  stream& s = from(rank);
  ++s.released;
  // Each rank acknowledges at a different message, so that the sender does not receive all acknowledgements
  // at once.
  constexpr std::uint32_t half = multicast_window / 2;
  const auto turn =
      half * static_cast<std::uint32_t>(options_->rank) / static_cast<std::uint32_t>(options_->size);
  if ((s.released + turn) % half == 0 && acknowledge(rank)) ++counters_->acknowledgements;
}

bool multicast_receiver::acknowledge(int rank) noexcept {
  stream& s = from(rank);
  const message_state mine{s.released, s.arrived, s.signal};
  try {
    s.acknowledgement_due = !port_->send_to(rank, multicast_kind::acknowledgement, wire(mine), false);
  } catch (...) {
    s.acknowledgement_due = true;  // the next send reports a broken queue pair
  }
  acknowledgements_due_ = acknowledgements_due_ || s.acknowledgement_due;
  return !s.acknowledgement_due;
}

bool multicast_receiver::on_question(int rank, std::span<const std::byte> body) {
  const auto theirs = parse<sender_state>(body);
  if (!theirs || theirs->zero != 0) return false;
  stream& s = from(rank);
  const auto ahead = distance(s.arrived, theirs->next);
  if (ahead > static_cast<std::int32_t>(multicast_window)) return false;
  if (ahead >= 0 && distance(s.top, theirs->next) > 0) s.top = theirs->next;
  if (acknowledge(rank)) ++counters_->answers;
  if (s.top != s.arrived) send_nak(rank, true, 0);
  if (theirs->signal != 0 && !has_reached(s.signal, theirs->signal)) send_nak(rank, false, theirs->signal);
  return true;
}

void multicast_receiver::send_nak(int rank, bool of_message, std::uint64_t word) {
  const stream& s = from(rank);
  const missing_messages missing{s.arrived, 0, s.beyond};
  const bool sent = of_message ? port_->send_to(rank, multicast_kind::message_missing, wire(missing), true)
                               : port_->send_to(rank, multicast_kind::signal_missing, wire(word), true);
  if (sent) ++counters_->naks_sent;
}

bool multicast_receiver::is_here(const nak_timer::awaited& what) const noexcept {
  const stream& s = from(what.from);
  return what.is_message ? s.arrived != static_cast<std::uint32_t>(what.what)
                         : has_reached(s.signal, what.what);
}

void multicast_receiver::progress(time_point now) {
  if (acknowledgements_due_) {
    acknowledgements_due_ = false;
    for (int r = 0; r < options_->size; ++r) {
      if (from(r).acknowledgement_due) acknowledge(r);
    }
  }
  if (!naks_.is_waiting()) return;
  const auto what = naks_.what();
  if (is_here(what) || port_->has_left(what.from)) return;
  const stream& s = from(what.from);
  if (naks_.asks(now, what.is_message && s.top != s.arrived, heard_))
    send_nak(what.from, what.is_message, what.what);
}

std::size_t multicast_receiver::memory_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const stream& s : streams_) bytes += s.ring.capacity();
  return bytes;
}

}  // namespace chorale::transport
