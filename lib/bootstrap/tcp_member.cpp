// SPDX-License-Identifier: Apache-2.0
#include "tcp_member.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace chorale::bootstrap {

tcp_member::tcp_member(const tcp_claim& mine, std::span<const std::byte> secret, const tcp_nonce& drawn)
    : mine_(mine), channel_(tcp_channel::side::member, secret, drawn, longest_tcp_word) {}

void tcp_member::received(std::span<const std::byte> bytes) {
  channel_.receive(bytes);
  while (!failure_) {
    const auto message = channel_.next();
    if (!message) break;
    read(*message);
  }
  if (channel_.fault() != tcp_fault::none && welcome_)
    fail({fmt::format("the root, rank {}, cannot be understood: {}", welcome_->root,
                      words_of(channel_.fault())),
          {welcome_->root}});
}

void tcp_member::read(const tcp_message& message) {
  if (message.kind == tcp_kind::failure) {
    if (auto why = tcp_failure::read(message.payload)) return fail(std::move(*why));
  } else if (message.kind == tcp_kind::seated && !is_seated_) {
    is_seated_ = true;
    return;
  } else if (message.kind == tcp_kind::welcome && is_seated_ && !welcome_ &&
             message.payload.size() == sizeof(tcp_welcome)) {
    welcome_ = read_first<tcp_welcome>(message.payload);
    const std::uint64_t longest = sizeof(std::uint64_t) + static_cast<std::uint64_t>(mine_.size) *
                                                              (sizeof(std::uint32_t) + longest_tcp_card);
    channel_.allow(std::min<std::uint64_t>(longest, std::numeric_limits<std::uint32_t>::max()));
    return;
  } else if (message.kind == tcp_kind::all_cards && is_waiting_) {
    all_ = read_cards_of_round(round_, static_cast<std::size_t>(mine_.size), message.payload);
    if (all_) {
      is_waiting_ = false;
      ++round_;
      return;
    }
  }
  fail({"the root sent a message that has no place here", {}});
}

void tcp_member::join() {
  channel_.send(tcp_kind::join, detail::bytes_of(mine_));
}

void tcp_member::contribute(std::span<const std::byte> mine) {
  is_waiting_ = true;
  channel_.send(tcp_kind::card, write_card_of_round(round_, mine));
}

std::optional<cards> tcp_member::finished_round() {
  return std::exchange(all_, std::nullopt);
}

void tcp_member::give_up(std::chrono::milliseconds waited) {
  channel_.send(tcp_kind::late, detail::bytes_of(static_cast<std::uint64_t>(waited.count())));
}

void tcp_member::closed() {
  if (welcome_)
    fail(
        {fmt::format(
             "rank {}, to which the others connect, has ended, or was killed, before this exchange was over: "
             "not all ranks make the same communicators",
             welcome_->root),
         {welcome_->root}});
  else if (is_seated_)
    fail({"the process that the others connect to has ended, or was killed, before all ranks had come", {}});
}

void tcp_member::fail(tcp_failure why) {
  if (!failure_) failure_ = std::move(why);
}

}  // namespace chorale::bootstrap
