// SPDX-License-Identifier: Apache-2.0
#include "tcp_client.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace chorale::bootstrap {
namespace {

/// Pauses between attempts: the first one, doubling up to the longest.
constexpr std::chrono::milliseconds first_pause{5};
constexpr std::chrono::milliseconds longest_pause{250};
/// Times to wait for an answer, doubling likewise. TCP retransmits lost packets after a second, for example
/// one that came to a socket that was being closed.
constexpr std::chrono::milliseconds first_patience{200};
constexpr std::chrono::seconds longest_patience{10};
/// Addresses are looked up again after this time, since those of a service that is being started may change.
constexpr std::chrono::seconds addresses_last{2};

std::string words_of_errno(int errnum) {
  return std::generic_category().message(errnum);
}

}  // namespace

tcp_client::tcp_client(const tcp_claim& mine, std::span<const std::byte> secret,
                       std::function<tcp_resolution()> addresses, std::string place)
    : mine_(mine),
      secret_(secret.begin(), secret.end()),
      addresses_(std::move(addresses)),
      place_(std::move(place)),
      pause_(first_pause),
      room_(tcp_room) {}

bool tcp_client::is_idle() const {
  return std::ranges::all_of(attempts_, [](const attempt& one) { return one.socket.get() < 0; });
}

void tcp_client::find_addresses() {
  const auto now = clock::now();
  if (!is_idle() || (!attempts_.empty() && now - asked_ < addresses_last)) return;
  tcp_resolution found = addresses_();
  asked_ = clock::now();
  why_ = std::move(found.why);
  std::vector<attempt> kept;
  for (const tcp_address& address : found.addresses) {
    const auto known =
        std::ranges::find(attempts_, address.text(), [](const attempt& one) { return one.at.text(); });
    kept.push_back(known == attempts_.end() ? attempt{address} : std::move(*known));
  }
  attempts_ = std::move(kept);
}

void tcp_client::begin(attempt& one) {
  one.socket = connect_to(one.at);
  one.patience = std::clamp<clock::duration>(2 * one.patience, first_patience, longest_patience);
  one.again = clock::now() + one.patience;
  if (one.socket.get() < 0) drop(one, words_of_errno(errno));
}

void tcp_client::drop(attempt& one, std::string why) {
  one.socket.reset();
  one.machine.reset();
  one.why = std::move(why);
  one.has_failed = true;
  one.again = clock::now() + pause_;
  pause_ = std::min<clock::duration>(2 * pause_, longest_pause);
  const auto refused = std::ranges::find(attempts_, true, &attempt::is_refused);
  if (refused != attempts_.end() && std::ranges::all_of(attempts_, &attempt::has_failed) && is_idle())
    failure_ = tcp_failure{fmt::format("the process that listens at {} is not of this job: {}",
                                       refused->at.text(), refused->why),
                           {}};
}

void tcp_client::step(clock::duration longest) {
  const auto now = clock::now();
  if (joined_ < 0) {
    for (attempt& one : attempts_)
      if (one.socket.get() >= 0 && !one.machine && one.again <= now) drop(one, "no answer");
    find_addresses();
    for (attempt& one : attempts_)
      if (one.socket.get() < 0 && !one.is_refused && one.again <= now) begin(one);
  }
  std::vector<tcp_watched> watched;
  std::vector<std::size_t> whose;
  for (std::size_t i = 0; i < attempts_.size(); ++i) {
    const attempt& one = attempts_[i];
    if (one.socket.get() < 0) {
      if (!one.is_refused)
        longest = std::min(longest, std::max(one.again - now, clock::duration{first_pause}));
      continue;
    }
    watched.push_back({one.socket.get(), !one.machine || !one.machine->outgoing().empty()});
    whose.push_back(i);
  }
  await_any(watched, longest);
  for (std::size_t i = 0; i < whose.size(); ++i) {
    attempt& one = attempts_[whose[i]];
    if (one.socket.get() < 0) continue;
    if (!one.machine && watched[i].is_writable) establish(one);
    if (one.machine) move(one);
    if (one.machine && joined_ < 0 && one.machine->has_greeted() && one.machine->fault() == tcp_fault::none) {
      joined_ = static_cast<int>(whose[i]);
      one.machine->join();
      move(one);
      // Their next connection, if this one comes to nothing, begins with a greeting of its own.
      for (attempt& other : attempts_)
        if (&other != &one) {
          other.socket.reset();
          other.machine.reset();
        }
    }
  }
}

void tcp_client::establish(attempt& one) {
  if (const int errnum = error_of_connection(one.socket.get()); errnum != 0)
    drop(one, words_of_errno(errnum));
  else
    one.machine.emplace(mine_, secret_, drawn_nonce());
}

void tcp_client::move(attempt& one) {
  std::size_t bytes = 0;
  int errnum = 0;
  auto moved = tcp_moved::some;
  // Reads before it writes: the root may have said why the group failed before it closed the connection.
  while (one.machine->fault() == tcp_fault::none &&
         (moved = receive_some(one.socket.get(), room_, bytes, errnum)) == tcp_moved::some)
    one.machine->received(std::span{room_}.first(bytes));
  bool is_closed = moved == tcp_moved::closed;
  for (auto left = one.machine->outgoing(); !left.empty() && !is_closed; left = one.machine->outgoing()) {
    moved = send_some(one.socket.get(), left, bytes, errnum);
    if (moved == tcp_moved::none) break;
    if (moved == tcp_moved::some) one.machine->sent(bytes);
    // The reason may have arrived just before: the next step reads it.
    if (moved == tcp_moved::closed) break;
  }
  judge(one);
  if (!is_closed || one.socket.get() < 0) return;
  const bool is_joined = joined_ >= 0 && &one == &joined();
  if (is_joined && (one.machine->is_seated() || one.machine->failure())) {
    one.machine->closed();
    one.socket.reset();
    return;
  }
  if (is_joined) joined_ = -1;
  drop(one, errnum == 0 ? "it closed the connection" : words_of_errno(errnum));
}

void tcp_client::judge(attempt& one) {
  const tcp_fault fault = one.machine->fault();
  if (fault == tcp_fault::none || one.machine->welcome()) return;
  one.is_refused = fault == tcp_fault::other_version || fault == tcp_fault::wrong_secret;
  if (joined_ >= 0 && &one == &joined()) joined_ = -1;
  drop(one, std::string{words_of(fault)});
}

bool tcp_client::give_up(std::chrono::milliseconds waited) {
  if (joined_ < 0) return false;
  joined().machine->give_up(waited);
  return true;
}

void tcp_client::end() noexcept {
  for (const attempt& one : attempts_)
    if (one.socket.get() >= 0) end_connection(one.socket.get());
}

std::optional<tcp_welcome> tcp_client::welcome() const {
  return joined_ < 0 ? std::nullopt : joined().machine->welcome();
}

const std::optional<tcp_failure>& tcp_client::failure() const noexcept {
  return joined_ < 0 ? failure_ : joined().machine->failure();
}

std::string tcp_client::awaited() const {
  if (joined_ >= 0)
    return fmt::format("{}, which collects what all send, and the ranks that it waits for",
                       joined().machine->welcome() ? ranks_in_words({joined().machine->welcome()->root})
                                                   : "the process at " + place_);
  std::string text = fmt::format("the rank that listens at {}", place_);
  std::string_view separator = " (";
  if (attempts_.empty()) return text + (why_.empty() ? "" : fmt::format(" ({})", why_));
  for (const attempt& one : attempts_) {
    text += fmt::format("{}{}: {}", separator, one.at.text(),
                        one.socket.get() >= 0
                            ? (one.machine ? "it accepts connections, but sends nothing" : "no answer")
                            : one.why);
    separator = "; ";
  }
  return text + ")";
}

}  // namespace chorale::bootstrap
