// SPDX-License-Identifier: Apache-2.0
// What clients send to the root of bootstrap::tcp, and what a root sends: strangers, and processes that know
// the secret.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "../../lib/bootstrap/tcp_member.hpp"
#include "../../lib/bootstrap/tcp_messages.hpp"
#include "../../lib/bootstrap/tcp_root.hpp"

using namespace chorale::bootstrap;

namespace {

constexpr int ranks = 3;

void must(bool good) {
  if (!good) std::abort();
}

std::span<const std::byte> secret() {
  return std::as_bytes(std::span{std::string_view{"known"}});
}

tcp_claim claim(int rank) {
  static const tcp_claim mine = tcp_claim::of_this_process(0, ranks);
  tcp_claim one = mine;
  one.rank = rank;
  return one;
}

tcp_nonce nonce(unsigned char of) {
  tcp_nonce drawn{};
  drawn[0] = std::byte{of};
  return drawn;
}

/// Delivers the messages that the input encodes, each as kind, length and content, sealed by `from`.
template <class Deliver>
void seal_all(tcp_channel& from, std::span<const std::byte> bytes, const Deliver& deliver) {
  while (bytes.size() >= 2) {
    const auto kind = static_cast<tcp_kind>(std::to_integer<std::uint32_t>(bytes[0]) % 9);
    const std::size_t length =
        std::min<std::size_t>(std::to_integer<std::size_t>(bytes[1]), bytes.size() - 2);
    from.send(kind, bytes.subspan(2, length));
    bytes = bytes.subspan(2 + length);
    for (auto out = from.outgoing(); !out.empty(); out = from.outgoing()) {
      deliver(out);
      from.sent(out.size());
    }
  }
}

void connect_and_greet(tcp_root& root, int number, tcp_channel& member) {
  root.connected(number, "10.0.0.1:1", nonce(1));
  root.received(number, member.outgoing());
  member.sent(member.outgoing().size());
  member.receive(root.outgoing(number));
  root.sent(number, root.outgoing(number).size());
  must(member.has_greeted());
}

/// An honest rank 1 joins, `bytes` come from rank 2 or a stranger, and rank 0 exchanges: the outcome is a
/// result or a failure.
void be_root(std::span<const std::byte> bytes, bool is_sealed) {
  tcp_root root{claim(0), 7, secret()};
  tcp_channel honest{tcp_channel::side::member, secret(), nonce(2), longest_tcp_word};
  tcp_channel other{tcp_channel::side::member, secret(), nonce(3), longest_tcp_word};
  connect_and_greet(root, 1, honest);
  honest.send(tcp_kind::join, chorale::detail::bytes_of(claim(1)));
  root.received(1, honest.outgoing());
  connect_and_greet(root, 2, other);
  if (is_sealed)
    seal_all(other, bytes, [&](auto out) { root.received(2, out); });
  else
    root.received(2, bytes);
  must(is_sealed || (!root.is_complete() && !root.failure()));
  if (root.is_complete()) {
    root.contribute({});
    static_cast<void>(root.finished_round());
  }
  root.give_up(std::chrono::milliseconds{1});
  root.closed(2);
  if (const auto& why = root.failure())
    must(!why->text.empty() && tcp_failure::read(why->bytes()).has_value());
}

void be_member(std::span<const std::byte> bytes) {
  tcp_member member{claim(1), secret(), nonce(1)};
  tcp_channel root{tcp_channel::side::root, secret(), nonce(2), longest_tcp_word};
  root.receive(member.outgoing());
  member.sent(member.outgoing().size());
  member.received(root.outgoing());
  root.sent(root.outgoing().size());
  must(member.has_greeted());
  member.join();
  member.contribute({});
  seal_all(root, bytes, [&](auto out) { member.received(out); });
  if (const auto all = member.finished_round()) must(all->size() == ranks);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  be_root(bytes, false);
  be_root(bytes, true);
  be_member(bytes);
  if (const auto why = tcp_failure::read(bytes))
    must(why->ranks.size() * 4 <= size && why->text.size() <= size);
  if (const auto all = read_cards_of_round(0, ranks, bytes)) {
    must(all->size() == ranks);
    must(std::ranges::equal(write_cards_of_round(0, *all), bytes));
  }
  return 0;
}
