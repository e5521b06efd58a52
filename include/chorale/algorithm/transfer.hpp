// SPDX-License-Identifier: Apache-2.0
// Transfers of any number of bytes between ranks, for algorithms that move whole buffers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <chorale/algorithm/announced_region.hpp>
#include <chorale/algorithm/call_memory.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::transfer {

/// True if a message of `bytes` goes by zero copy, straight into the receiver's buffer. Both sides must know
/// its size.
template <mailbox_transport Net>
[[nodiscard]] bool is_zero_copy(const Net& net, std::size_t bytes) noexcept {
  if constexpr (one_sided_transport<Net>)
    return bytes != 0 && bytes >= net.zero_copy_bytes();
  else
    return false;
}

/// True if each rank has a core to itself, which performs the rank's puts and gets. In a one-way transfer
/// each of the two ranks then copies one half. The same on all ranks.
template <mailbox_transport Net>
[[nodiscard]] bool own_cores_copy(const Net& net) noexcept {
  if constexpr (core_copying_transport<Net>)
    return net.copies_by_core() && !net.oversubscribed();
  else
    return false;
}

/// The same for a message in one direction only. Blocks can be sent without waiting for the receiver's
/// address, so zero copy pays off only from a larger size than in an exchange, unless both ranks copy.
template <mailbox_transport Net>
[[nodiscard]] bool is_zero_copy_one_way(const Net& net, std::size_t bytes) noexcept {
  return transfer::is_zero_copy(net, bytes) &&
         (transfer::is_zero_copy(net, bytes / 2) || transfer::own_cores_copy(net));
}

/// True if a message of `bytes` is sent as one message by the transport, which has messages of any length,
/// since it is longer than a block. Both sides must know its size.
template <mailbox_transport Net>
[[nodiscard]] bool is_whole(const Net& net, std::size_t bytes) noexcept {
  return message_transport<Net> && bytes > net.block_bytes();
}

/// True if `send` and `receive` of `bytes` are a single mailbox message. Algorithms call the transport
/// directly for such a message, which saves a coroutine. Both sides must know its size.
template <mailbox_transport Net>
[[nodiscard]] bool is_one_message(const Net& net, std::size_t bytes) noexcept {
  return bytes != 0 && bytes <= net.block_bytes() && !transfer::is_zero_copy_one_way(net, bytes);
}

/// The bytes of a message of rank `from`, which must be exactly `expected` long. Algorithms access received
/// messages only through this function and those below, so that a message of another size is always an error
/// and never corrupts or underfills a buffer. @throws error errc::mismatch.
template <mailbox_transport Net, arrived_message Message>
[[nodiscard]] std::span<const std::byte> exact(const Net& net, int from, call_id now, const Message& message,
                                               std::size_t expected) {
  const std::span<const std::byte> bytes = message.bytes();
  if (bytes.size() != expected) [[unlikely]]
    chorale::throw_unequal_sizes(net, now, net.rank(), expected, from, bytes.size());
  return bytes;
}

/// The bytes of a message of rank `from`, which must be at least `expected` long.
/// @throws error errc::mismatch.
template <mailbox_transport Net, arrived_message Message>
[[nodiscard]] std::span<const std::byte> at_least(const Net& net, int from, call_id now,
                                                  const Message& message, std::size_t expected) {
  const std::span<const std::byte> bytes = message.bytes();
  if (bytes.size() < expected) [[unlikely]]
    chorale::throw_unequal_sizes(net, now, net.rank(), expected, from, bytes.size());
  return bytes;
}

/// Copies a message of rank `from` to `destination`, which it must fill exactly. @throws error
/// errc::mismatch.
template <mailbox_transport Net, arrived_message Message>
[[gnu::always_inline]] inline void place(const Net& net, int from, call_id now, const Message& message,
                                         std::span<std::byte> destination) {
  const auto bytes = transfer::exact(net, from, now, message, destination.size());
  if (!bytes.empty()) chorale::copy_bytes(destination.data(), bytes.data(), bytes.size());
}

/// Appends the elements of a message of rank `from`: whole elements, at most `most`.
/// @throws error errc::mismatch.
template <mailbox_transport Net, arrived_message Message, class Element>
void append(const Net& net, int from, call_id now, const Message& message, std::size_t most,
            std::vector<Element>& elements) {
  const std::span<const std::byte> bytes = message.bytes();
  const std::size_t count = std::min(bytes.size() / sizeof(Element), most);
  if (count * sizeof(Element) != bytes.size()) [[unlikely]]
    chorale::throw_unequal_sizes(net, now, net.rank(), count * sizeof(Element), from, bytes.size());
  const std::size_t old = elements.size();
  elements.resize(old + count);
  if (count != 0) chorale::copy_bytes(elements.data() + old, bytes.data(), bytes.size());
}

/// The region of any size that rank `from` announces in `message`. @throws error errc::mismatch.
template <mailbox_transport Net, arrived_message Message>
[[nodiscard]] remote_region read_place(const Net& net, int from, call_id now, const Message& message) {
  remote_region region;
  std::memcpy(&region, transfer::exact(net, from, now, message, sizeof region).data(), sizeof region);
  if (!chorale::is_owned_by(net, from, region)) [[unlikely]]
    chorale::throw_unequal_sizes(net, now, from, region.bytes, net.rank(), 0);
  return region;
}
/// The region of `bytes` that rank `from` announces in `message`. @throws error errc::mismatch if the message
/// contains no region, or one of another size or owner.
template <mailbox_transport Net, arrived_message Message>
[[nodiscard]] remote_region read_region(const Net& net, int from, call_id now, const Message& message,
                                        std::size_t bytes) {
  const remote_region region = transfer::read_place(net, from, now, message);
  transfer::check_region(net, from, now, region, bytes);
  return region;
}

/// A message that this rank sends in a step.
struct outbound_message {
  int to;                            ///< rank
  std::span<const std::byte> bytes;  ///< unchanged until the step is over
};
/// A message that this rank receives in a step.
struct inbound_message {
  int from;                    ///< rank
  std::span<std::byte> bytes;  ///< filled when the step is over
};

/// Transfers all messages of a step: posts the receives, then the sends, then waits for all.
template <message_transport Net>
task<> exchange_all(Net& net, call_id now, std::span<const outbound_message> out,
                    std::span<const inbound_message> in) {
  std::vector<decltype(net.post_receive(0, now, std::span<std::byte>{}))> posted_receives;
  std::vector<decltype(net.post_send(0, now, std::span<const std::byte>{}))> posted_sends;
  posted_receives.reserve(in.size());
  posted_sends.reserve(out.size());
  for (const inbound_message& one : in) posted_receives.push_back(net.post_receive(one.from, now, one.bytes));
  for (const outbound_message& one : out) posted_sends.push_back(net.post_send(one.to, now, one.bytes));
  for (const outbound_message& one : out) co_await net.sent(one.to, now);
  for (const inbound_message& one : in) co_await net.received(one.from, now);
}

/// As `exchange`, but without exchanging addresses: through the mailbox for any size, or by messages of the
/// transport.
template <mailbox_transport Net>
task<> copy(Net& net, call_id now, int to, std::span<const std::byte> out, int from,
            std::span<std::byte> in) {
  if constexpr (message_transport<Net>) {
    if (transfer::is_whole(net, out.size()) || transfer::is_whole(net, in.size())) {
      std::optional<decltype(net.post_receive(from, now, in))> receiving;
      std::optional<decltype(net.post_send(to, now, out))> sending;
      if (!in.empty()) receiving.emplace(net.post_receive(from, now, in));
      if (!out.empty()) sending.emplace(net.post_send(to, now, out));
      if (sending) co_await net.sent(to, now);
      if (receiving) co_await net.received(from, now);
      co_return;
    }
  }
  auto outgoing = chunks{out, net.block_bytes()};
  auto incoming = chunks{in, net.block_bytes()};
  auto next_out = outgoing.begin();
  auto next_in = incoming.begin();
  while (next_out != outgoing.end() || next_in != incoming.end()) {
    if (next_out != outgoing.end()) {
      co_await net.send(to, now, *next_out);
      ++next_out;
    }
    if (next_in != incoming.end()) {
      const auto message = co_await net.receive(from, now);
      transfer::place(net, from, now, message, *next_in);
      ++next_in;
    }
  }
}

/// `bytes` for `net.send` to several ranks: staged only once if the transport can.
template <mailbox_transport Net>
[[nodiscard]] auto for_several(Net& net, std::span<const std::byte> bytes) {
  if constexpr (sharing_transport<Net>)
    return net.for_several(bytes);
  else
    return bytes;
}

// For messages that need no acknowledgement since a later message implies it (`answering_transport`); rank -1
// means no rank.

/// Messages received from rank `from` so far need no acknowledgement: a later message of this rank will imply
/// it.
template <mailbox_transport Net>
void will_answer(Net& net, int from) noexcept {
  if constexpr (answering_transport<Net>) net.will_answer(from);
}
/// The number of messages that this rank has sent to rank `to`, for `answered_by`.
template <mailbox_transport Net>
[[nodiscard]] std::uint64_t sent_to(const Net& net, int to) noexcept {
  if constexpr (answering_transport<Net>) return to < 0 ? 0 : net.sent_to(to);
  return 0;
}
/// A message received since implies that rank `to` has released the first `messages` sent to it.
template <mailbox_transport Net>
void answered_by(Net& net, int to, std::uint64_t messages) noexcept {
  if constexpr (answering_transport<Net>) {
    if (to >= 0) net.answered_by(to, messages);
  }
}

/// `send` of a long message by a put into the region that the receiver announces.
template <one_sided_transport Net>
task<> send_by_put(Net& net, int to, call_id now, std::span<const std::byte> out) {
  const auto lent = transfer::lend(net, out);
  remote_region there;
  {
    const auto offer = co_await net.receive(to, now);
    there = transfer::read_region(net, to, now, offer, out.size());
  }
  co_await net.put(there, 0, lent, lent.current(out), now);
  co_await net.send(to, now, {});
  co_await net.flush(to, now);
}

/// `receive` of a message that `send_by_put` sends.
template <one_sided_transport Net>
task<> receive_by_put(Net& net, int from, call_id now, std::span<std::byte> in) {
  const auto exposed = transfer::expose(net, in);
  const remote_region here = exposed.region();
  co_await net.send(from, now, bytes_of(here));
  {
    const auto done = co_await net.receive(from, now);
    static_cast<void>(transfer::exact(net, from, now, done, 0));
  }
  exposed.copy_back();
}

/// How many bytes of a message that both ranks copy the sender puts; the receiver reads the rest.
[[nodiscard]] inline std::size_t part_to_put(std::size_t bytes) noexcept {
  constexpr std::size_t line = 64;
  return bytes / 2 / line * line;
}

/// `send` of a message that both ranks copy. Each tells the other where its memory is before it waits.
template <core_copying_transport Net>
task<> send_from_both(Net& net, int to, call_id now, std::span<const std::byte> out) {
  const auto offered = transfer::offer(net, out);
  const auto put = out.first(part_to_put(out.size()));
  const remote_region rest = transfer::part_of(offered.region(), out.subspan(put.size()));
  co_await net.send(to, now, bytes_of(rest));
  remote_region there;
  {
    const auto place = co_await net.receive(to, now);
    there = transfer::read_region(net, to, now, place, put.size());
  }
  co_await net.put(there, 0, offered, put, now);
  co_await net.send(to, now, {});
  {
    const auto read = co_await net.receive(to, now);
    static_cast<void>(transfer::exact(net, to, now, read, 0));
  }
  co_await net.flush(to, now);
}

/// `receive` of a message that both ranks copy.
template <core_copying_transport Net>
task<> receive_from_both(Net& net, int from, call_id now, std::span<std::byte> in) {
  const auto exposed = transfer::expose(net, in);
  const auto put = in.first(part_to_put(in.size()));
  const auto read = in.subspan(put.size());
  const remote_region here = transfer::part_of(exposed.region(), put);
  co_await net.send(from, now, bytes_of(here));
  remote_region there;
  {
    const auto offer = co_await net.receive(from, now);
    there = transfer::read_region(net, from, now, offer, read.size());
  }
  co_await net.get(there, 0, exposed, read, now);
  co_await net.send(from, now, {});
  {
    const auto done = co_await net.receive(from, now);
    static_cast<void>(transfer::exact(net, from, now, done, 0));
  }
  exposed.copy_back();
}

/// Sends `out` to rank `to`, which calls `receive` with the same size. If a rank may not know the size, use
/// `agreed::send`, which compares sizes.
///
/// Short messages go through the mailbox in blocks, copied once on each side. Long ones use a rendezvous: the
/// receiver announces its buffer, the sender puts the bytes there and notifies the receiver (P4 section 3.3),
/// or puts one half while the receiver reads the other; or they are one message, on transports with messages
/// of any length. Neither leaves anything to be received in the next call.
template <mailbox_transport Net>
task<> send(Net& net, int to, call_id now, std::span<const std::byte> out) {
  if constexpr (one_sided_transport<Net>) {
    if (transfer::is_zero_copy_one_way(net, out.size())) {
      if constexpr (core_copying_transport<Net>) {
        if (transfer::own_cores_copy(net)) return transfer::send_from_both(net, to, now, out);
      }
      return transfer::send_by_put(net, to, now, out);
    }
  }
  return transfer::copy(net, now, to, out, to, {});
}

/// Receives in.size() bytes that rank `from` sends by `send`.
template <mailbox_transport Net>
task<> receive(Net& net, int from, call_id now, std::span<std::byte> in) {
  if constexpr (one_sided_transport<Net>) {
    if (transfer::is_zero_copy_one_way(net, in.size())) {
      if constexpr (core_copying_transport<Net>) {
        if (transfer::own_cores_copy(net)) return transfer::receive_from_both(net, from, now, in);
      }
      return transfer::receive_by_put(net, from, now, in);
    }
  }
  return transfer::copy(net, now, from, {}, from, in);
}

/// Reads the region of in.size() bytes that rank `from` announces, and notifies it afterwards.
template <reading_transport Net>
task<> fetch(Net& net, int from, call_id now, std::span<std::byte> in) {
  const auto local = transfer::expose(net, in);
  remote_region there;
  {
    const auto offer = co_await net.receive(from, now);
    there = transfer::read_region(net, from, now, offer, in.size());
  }
  co_await net.get(there, 0, local, in, now);
  co_await net.send(from, now, {});
  local.copy_back();
}

/// Sends `out` to rank `to` and receives `in` from rank `from` at the same time, so that ranks that exchange
/// in a circle do not wait for each other's free blocks. Both peers call `exchange` too. Either buffer may be
/// empty; its rank is then ignored.
template <mailbox_transport Net>
task<> exchange(Net& net, call_id now, int to, std::span<const std::byte> out, int from,
                std::span<std::byte> in) {
  const bool puts = transfer::is_zero_copy(net, out.size());
  const bool offers = transfer::is_zero_copy(net, in.size());
  if constexpr (one_sided_transport<Net>) {
    if (puts || offers) {
      auto place = in.first(offers ? in.size() : 0);
      const auto exposed = transfer::expose(net, place);
      const auto lent = transfer::lend(net, out.first(puts ? out.size() : 0));
      if (offers) {
        const remote_region here = exposed.region();
        co_await net.send(from, now, bytes_of(here));
      }
      if (puts) {
        remote_region there;
        {
          const auto offer = co_await net.receive(to, now);
          there = transfer::read_region(net, to, now, offer, out.size());
        }
        co_await net.put_notified(there, 0, lent, lent.current(out), now);
      }
      co_await transfer::copy(net, now, to, puts ? out.first(0) : out, from, offers ? in.first(0) : in);
      if (offers) co_await net.notified(from, now);
      if (puts) co_await net.flush(to, now);
      exposed.copy_back();
      co_return;
    }
  }
  co_await transfer::copy(net, now, to, out, from, in);
}

}  // namespace chorale::transfer
