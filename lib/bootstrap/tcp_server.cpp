// SPDX-License-Identifier: Apache-2.0
#include "tcp_server.hpp"

#include <algorithm>
#include <utility>

#include <chorale/core/system_services.hpp>

#include "tcp_sockets.hpp"

namespace chorale::bootstrap {
namespace {

constexpr std::chrono::seconds longest_goodbye{1};

}  // namespace

tcp_server::tcp_server(const tcp_claim& mine, std::span<const std::byte> secret, detail::process_fd listener)
    : root_(mine, unguessable_word(), secret), listener_(std::move(listener)), room_(tcp_room) {}

void tcp_server::step(clock::duration longest) {
  std::vector<tcp_watched> watched;
  std::vector<int> numbers;
  watched.reserve(sockets_.size() + 1);
  for (const auto& [number, socket] : sockets_) {
    watched.push_back({socket.get(), !root_.outgoing(number).empty()});
    numbers.push_back(number);
  }
  if (listener_.get() >= 0) watched.push_back({listener_.get(), false});
  await_any(watched, longest);
  if (listener_.get() >= 0 && watched.back().is_readable) accept_all();
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (watched[i].is_readable) read(numbers[i]);
  // Closed before any rank learns that all have joined: it may then connect to the next group at this
  // address.
  if (root_.is_complete()) listener_.reset();
  for (auto one = sockets_.begin(); one != sockets_.end();) {
    const int number = one->first;
    ++one;
    if (!write(number)) continue;
    if (!root_.is_over(number) || !root_.outgoing(number).empty()) continue;
    // A rank that learns of a failure closes the connection when it has read the message.
    if (root_.failure()) {
      end_connection(sockets_.at(number).get());
      continue;
    }
    root_.closed(number);
    sockets_.erase(number);
  }
}

void tcp_server::accept_all() {
  for (;;) {
    std::string from;
    detail::process_fd socket = accept_from(listener_.get(), from);
    if (socket.get() < 0) return;
    const int number = ++connections_;
    root_.connected(number, std::move(from), drawn_nonce());
    sockets_.emplace(number, std::move(socket));
  }
}

void tcp_server::read(int connection) {
  std::size_t bytes = 0;
  int errnum = 0;
  // Once per step, so that a peer that sends without end does not keep the others waiting.
  const tcp_moved moved = receive_some(sockets_.at(connection).get(), room_, bytes, errnum);
  if (moved == tcp_moved::some) root_.received(connection, std::span{room_}.first(bytes));
  if (moved != tcp_moved::closed) return;
  root_.closed(connection);
  sockets_.erase(connection);
}

bool tcp_server::write(int connection) {
  for (auto left = root_.outgoing(connection); !left.empty(); left = root_.outgoing(connection)) {
    std::size_t bytes = 0;
    int errnum = 0;
    switch (send_some(sockets_.at(connection).get(), left, bytes, errnum)) {
      case tcp_moved::some:
        root_.sent(connection, bytes);
        break;
      case tcp_moved::none:
        return true;
      case tcp_moved::closed:
        root_.closed(connection);
        sockets_.erase(connection);
        return false;
    }
  }
  return true;
}

bool tcp_server::is_flushed() const {
  return std::ranges::all_of(sockets_, [&](const auto& one) { return root_.outgoing(one.first).empty(); });
}

std::optional<tcp_welcome> tcp_server::welcome() const {
  if (!root_.is_complete() || !is_flushed()) return std::nullopt;
  return root_.welcome();
}

std::optional<cards> tcp_server::finished_round() {
  if (!finished_) finished_ = root_.finished_round();
  if (!finished_ || !is_flushed()) return std::nullopt;
  return std::exchange(finished_, std::nullopt);
}

bool tcp_server::give_up(std::chrono::milliseconds waited) {
  root_.give_up(waited);
  return root_.failure().has_value();
}

void tcp_server::linger() {
  const auto end = clock::now() + longest_goodbye;
  for (auto now = clock::now(); now < end && !sockets_.empty(); now = clock::now()) step(end - now);
}

void tcp_server::end() noexcept {
  for (const auto& [number, socket] : sockets_) end_connection(socket.get());
}

std::string tcp_server::awaited() const {
  const auto missing = root_.missing();
  return missing.empty() ? "the other ranks to take what was sent" : ranks_in_words(missing);
}

}  // namespace chorale::bootstrap
