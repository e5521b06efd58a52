// SPDX-License-Identifier: Apache-2.0
#include "tcp_channel.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include <chorale/core/system_services.hpp>

namespace chorale::bootstrap {
namespace {

/// Messages of at most this many bytes are sent in one piece.
constexpr std::size_t longest_piece = 8192;

void append(tcp_bytes& to, std::span<const std::byte> more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

tcp_nonce drawn_nonce() {
  const std::array<std::uint64_t, 2> words{unguessable_word(), unguessable_word()};
  tcp_nonce drawn;
  std::memcpy(drawn.data(), words.data(), sizeof drawn);
  return drawn;
}

tcp_channel::tcp_channel(side mine, std::span<const std::byte> secret, const tcp_nonce& drawn,
                         std::size_t longest)
    : mine_(mine), secret_(secret.begin(), secret.end()), drawn_(drawn), longest_(longest) {
  if (mine_ == side::member) greet();
}

void tcp_channel::greet() {
  tcp_greeting mine;
  mine.nonce = drawn_;
  const auto bytes = detail::bytes_of(mine);
  queue({bytes.begin(), bytes.end()});
}

void tcp_channel::queue(tcp_bytes bytes) {
  outgoing_.push_back(std::make_shared<const tcp_bytes>(std::move(bytes)));
}

void tcp_channel::receive(std::span<const std::byte> bytes) {
  if (fault_ != tcp_fault::none) return;
  incoming_.erase(incoming_.begin(), incoming_.begin() + static_cast<std::ptrdiff_t>(taken_));
  taken_ = 0;
  append(incoming_, bytes);
  if (!has_greeted_) read_greeting();
}

void tcp_channel::read_greeting() {
  tcp_greeting theirs;
  const std::size_t here = std::min(incoming_.size(), sizeof theirs);
  // One wrong byte is enough: an HTTP client may wait for an answer before it has sent 32 bytes.
  const auto magic = detail::bytes_of(tcp_greeting::known_magic);
  if (!std::equal(incoming_.begin(),
                  incoming_.begin() + static_cast<std::ptrdiff_t>(std::min(here, magic.size())),
                  magic.begin())) {
    fault_ = tcp_fault::stranger;
    return;
  }
  if (here < sizeof theirs) return;
  std::memcpy(static_cast<void*>(&theirs), incoming_.data(), sizeof theirs);
  taken_ = sizeof theirs;
  // Greets first, so that the other side also learns of a difference.
  if (mine_ == side::root) greet();
  // A connection to a local port at which no process listens may be one to itself (TCP simultaneous open).
  if (theirs.nonce == drawn_) {
    fault_ = tcp_fault::stranger;
    return;
  }
  if (theirs.protocol != tcp_greeting::known_protocol) {
    fault_ = tcp_fault::other_version;
    return;
  }
  const tcp_nonce& of_member = mine_ == side::member ? drawn_ : theirs.nonce;
  const tcp_nonce& of_root = mine_ == side::member ? theirs.nonce : drawn_;
  const auto key = [&](std::string_view from) {
    return keyed_hash(secret_, {std::as_bytes(std::span{from}), of_member, of_root});
  };
  const digest from_member = key("chorale tcp, from a member");
  const digest from_root = key("chorale tcp, from the root");
  send_key_ = mine_ == side::member ? from_member : from_root;
  receive_key_ = mine_ == side::member ? from_root : from_member;
  has_greeted_ = true;
}

digest tcp_channel::seal(const digest& key, std::uint64_t number, const head& of,
                         const digest& hash) noexcept {
  return keyed_hash(key, {detail::bytes_of(number), detail::bytes_of(of), hash});
}

std::optional<tcp_message> tcp_channel::next() {
  if (!has_greeted_ || fault_ != tcp_fault::none) return std::nullopt;
  const std::span<const std::byte> here = std::span{incoming_}.subspan(taken_);
  head first;
  if (here.size() < sizeof first) return std::nullopt;
  std::memcpy(static_cast<void*>(&first), here.data(), sizeof first);
  if (first.bytes > longest_) {
    fault_ = tcp_fault::too_long;
    return std::nullopt;
  }
  const std::size_t whole = sizeof first + first.bytes + tag_bytes;
  if (here.size() < whole) return std::nullopt;
  const auto payload = here.subspan(sizeof first, first.bytes);
  const digest expected = seal(receive_key_, received_, first, hash_of(payload));
  if (!is_equal_in_secret(std::span{expected}.first(tag_bytes),
                          here.subspan(sizeof first + first.bytes, tag_bytes))) {
    fault_ = tcp_fault::wrong_secret;
    return std::nullopt;
  }
  tcp_message message{first.kind, {payload.begin(), payload.end()}};
  ++received_;
  taken_ += whole;
  return message;
}

void tcp_channel::send(tcp_kind kind, std::span<const std::byte> payload) {
  send(kind, std::make_shared<const tcp_bytes>(payload.begin(), payload.end()), hash_of(payload));
}

void tcp_channel::send(tcp_kind kind, std::shared_ptr<const tcp_bytes> payload, const digest& hash) {
  const head first{kind, static_cast<std::uint32_t>(payload->size())};
  const digest tag = seal(send_key_, sent_, first, hash);
  const auto end = std::span{tag}.first(tag_bytes);
  const auto begin = detail::bytes_of(first);
  ++sent_;
  tcp_bytes piece{begin.begin(), begin.end()};
  if (payload->size() <= longest_piece) {
    append(piece, *payload);
    append(piece, end);
    queue(std::move(piece));
    return;
  }
  queue(std::move(piece));
  outgoing_.push_back(std::move(payload));
  queue({end.begin(), end.end()});
}

std::span<const std::byte> tcp_channel::outgoing() const noexcept {
  if (outgoing_.empty()) return {};
  return std::span{*outgoing_.front()}.subspan(on_its_way_);
}

void tcp_channel::sent(std::size_t bytes) noexcept {
  on_its_way_ += bytes;
  if (on_its_way_ < outgoing_.front()->size()) return;
  outgoing_.pop_front();
  on_its_way_ = 0;
}

}  // namespace chorale::bootstrap
