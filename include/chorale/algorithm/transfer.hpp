// Bytes of any number from one rank to another, for algorithms that move whole buffers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <chorale/algorithm/announced_region.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::transfer {

/// True if a message of so many bytes goes straight into the receiver's buffer. Both sides must know its
/// size.
template <mailbox_transport Net>
[[nodiscard]] bool is_zero_copy(const Net& net, std::size_t bytes) noexcept {
  if constexpr (one_sided_transport<Net>)
    return bytes != 0 && bytes >= net.zero_copy_bytes();
  else
    return false;
}

/// True if each rank has a core to itself, and that core makes the copies that the rank requests. Both ranks
/// of a transfer in one direction then copy one half each. The same on all ranks.
template <mailbox_transport Net>
[[nodiscard]] bool own_cores_copy(const Net& net) noexcept {
  if constexpr (core_copying_transport<Net>)
    return net.copies_by_core() && !net.oversubscribed();
  else
    return false;
}

/// The same for a message in one direction only: in blocks it leaves without waiting for the receiver's
/// address, so that zero copy pays off later than in an exchange, unless both ranks copy.
template <mailbox_transport Net>
[[nodiscard]] bool is_zero_copy_one_way(const Net& net, std::size_t bytes) noexcept {
  return transfer::is_zero_copy(net, bytes) &&
         (transfer::is_zero_copy(net, bytes / 2) || transfer::own_cores_copy(net));
}

/// True if a message of so many bytes is left to the transport as a whole, from memory to memory: it has
/// messages of any length, and this one is longer than a block. Both sides must know its size.
template <mailbox_transport Net>
[[nodiscard]] bool is_whole(const Net& net, std::size_t bytes) noexcept {
  if constexpr (message_transport<Net>)
    return bytes > net.block_bytes();
  else
    return false;
}

/// True if `send` and `receive` of so many bytes are one message of the mailbox and nothing else: algorithms
/// send and receive such a one themselves, without a coroutine for it. Both sides must know its size.
template <mailbox_transport Net>
[[nodiscard]] bool is_one_message(const Net& net, std::size_t bytes) noexcept {
  return bytes != 0 && bytes <= net.block_bytes() && !transfer::is_zero_copy_one_way(net, bytes);
}

/// The bytes of a message of rank `from`, which has to have exactly `expected`. Algorithms look at what they
/// receive through this function and those below, and in no other way: a message of another size is an error,
/// and never too much, too little or nothing in a buffer. @throws error errc::mismatch.
template <mailbox_transport Net, arrived_message Message>
[[nodiscard]] std::span<const std::byte> exact(const Net& net, int from, call_id now, const Message& message,
                                               std::size_t expected) {
  const std::span<const std::byte> bytes = message.bytes();
  if (bytes.size() != expected) [[unlikely]]
    chorale::throw_unequal_sizes(now.what, net.rank(), expected, from, bytes.size());
  return bytes;
}

/// The bytes of a message of rank `from`, of which there are to be `expected` or more.
/// @throws error errc::mismatch.
template <mailbox_transport Net, arrived_message Message>
[[nodiscard]] std::span<const std::byte> at_least(const Net& net, int from, call_id now,
                                                  const Message& message, std::size_t expected) {
  const std::span<const std::byte> bytes = message.bytes();
  if (bytes.size() < expected) [[unlikely]]
    chorale::throw_unequal_sizes(now.what, net.rank(), expected, from, bytes.size());
  return bytes;
}

/// Copies a message of rank `from` to `destination`, which it has to fill. @throws error errc::mismatch.
template <mailbox_transport Net, arrived_message Message>
[[gnu::always_inline]] inline void place(const Net& net, int from, call_id now, const Message& message,
                                         std::span<std::byte> destination) {
  const auto bytes = transfer::exact(net, from, now, message, destination.size());
  if (!bytes.empty()) chorale::copy_bytes(destination.data(), bytes.data(), bytes.size());
}

/// Appends the elements of a message of rank `from`, at most `most` whole ones.
/// @throws error errc::mismatch.
template <mailbox_transport Net, arrived_message Message, class Element>
void append(const Net& net, int from, call_id now, const Message& message, std::size_t most,
            std::vector<Element>& elements) {
  const std::span<const std::byte> bytes = message.bytes();
  const std::size_t count = std::min(bytes.size() / sizeof(Element), most);
  if (count * sizeof(Element) != bytes.size()) [[unlikely]]
    chorale::throw_unequal_sizes(now.what, net.rank(), count * sizeof(Element), from, bytes.size());
  const std::size_t old = elements.size();
  elements.resize(old + count);
  if (count != 0) chorale::copy_bytes(elements.data() + old, bytes.data(), bytes.size());
}

/// The region that rank `from` exposes, of any size, and says so in `message`. @throws error errc::mismatch.
template <mailbox_transport Net, arrived_message Message>
[[nodiscard]] remote_region read_place(const Net& net, int from, call_id now, const Message& message) {
  remote_region region;
  std::memcpy(&region, transfer::exact(net, from, now, message, sizeof region).data(), sizeof region);
  if (region.owner != from) [[unlikely]]
    chorale::throw_unequal_sizes(now.what, from, region.bytes, net.rank(), 0);
  return region;
}
/// The region of `bytes` that rank `from` exposes, and says so in `message`. @throws error errc::mismatch if
/// the message is none, or the region not this one.
template <mailbox_transport Net, arrived_message Message>
[[nodiscard]] remote_region read_region(const Net& net, int from, call_id now, const Message& message,
                                        std::size_t bytes) {
  const remote_region region = transfer::read_place(net, from, now, message);
  transfer::check_region(net, from, now, region, bytes);
  return region;
}

/// What goes to a rank, and what comes from one, in a step.
struct going {
  int to;                            ///< rank
  std::span<const std::byte> bytes;  ///< unchanged until the step is over
};
/// What comes from a rank in a step, and where it goes.
struct coming {
  int from;                    ///< rank
  std::span<std::byte> bytes;  ///< filled when the step is over
};

/// All messages of a step: those that come are posted first, then those that go, then all are waited for.
template <message_transport Net>
task<> move(Net& net, call_id now, std::span<const going> out, std::span<const coming> in) {
  std::vector<decltype(net.post_receive(0, now, std::span<std::byte>{}))> taking;
  std::vector<decltype(net.post_send(0, now, std::span<const std::byte>{}))> giving;
  taking.reserve(in.size());
  giving.reserve(out.size());
  for (const coming& one : in) taking.push_back(net.post_receive(one.from, now, one.bytes));
  for (const going& one : out) giving.push_back(net.post_send(one.to, now, one.bytes));
  for (const going& one : out) co_await net.sent(one.to, now);
  for (const coming& one : in) co_await net.received(one.from, now);
}

/// `bytes` as `net.send` takes them for several ranks: prepared once, where the transport can.
template <mailbox_transport Net>
[[nodiscard]] auto for_several(Net& net, std::span<const std::byte> bytes) {
  if constexpr (sharing_transport<Net>)
    return net.for_several(bytes);
  else
    return bytes;
}

// Of messages whose notification is an answer (`answering_transport`); -1 is nobody.

/// What rank `from` has sent so far needs no notification: it will be `answered_by` this rank.
template <mailbox_transport Net>
void will_answer(Net& net, int from) noexcept {
  if constexpr (answering_transport<Net>) net.will_answer(from);
}
/// How many messages this rank has sent to `to`, for `answered_by`.
template <mailbox_transport Net>
[[nodiscard]] std::uint64_t sent_to(const Net& net, int to) noexcept {
  if constexpr (answering_transport<Net>) return to < 0 ? 0 : net.sent_to(to);
  return 0;
}
/// What came since says that rank `to` has given back the first `messages` that this rank sent it.
template <mailbox_transport Net>
void answered_by(Net& net, int to, std::uint64_t messages) noexcept {
  if constexpr (answering_transport<Net>) {
    if (to >= 0) net.answered_by(to, messages);
  }
}

/// `send` of a long message by a put to where the receiver says, which only exposes its memory.
template <one_sided_transport Net>
task<> send_by_put(Net& net, int to, call_id now, std::span<const std::byte> out) {
  const auto lent = net.lend(out);
  remote_region there;
  {
    const auto offer = co_await net.receive(to, now);
    there = transfer::read_region(net, to, now, offer, out.size());
  }
  co_await net.put(there, 0, lent, out, now);
  co_await net.send(to, now, {});
  co_await net.flush(to, now);
}

/// Of a message that both ranks copy, what the sender puts; the receiver reads the rest.
[[nodiscard]] inline std::size_t part_to_put(std::size_t bytes) noexcept {
  constexpr std::size_t line = 64;
  return bytes / 2 / line * line;
}

/// `send` of a message that both ranks copy. Each tells the other where its memory is before it waits.
template <core_copying_transport Net>
task<> send_from_both(Net& net, int to, call_id now, std::span<const std::byte> out) {
  const auto put = out.first(part_to_put(out.size()));
  const auto offered = net.offer(out);
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
  const auto put = in.first(part_to_put(in.size()));
  const auto read = in.subspan(put.size());
  const auto exposed = net.expose(in);
  const remote_region here = transfer::part_of(exposed.region(), put);
  co_await net.send(from, now, bytes_of(here));
  remote_region there;
  {
    const auto offer = co_await net.receive(from, now);
    there = transfer::read_region(net, from, now, offer, read.size());
  }
  co_await net.get(there, 0, exposed, read, now);
  co_await net.send(from, now, {});
  const auto done = co_await net.receive(from, now);
  static_cast<void>(transfer::exact(net, from, now, done, 0));
}

/// Sends `out` to rank `to`, which calls `receive` with as many bytes. All ranks know how many these are;
/// where they may not, `agreed::send` and its kin compare.
///
/// Short messages go through the mailbox in blocks: copy, copy. Long ones are a rendezvous: the receiver
/// tells where its buffer is, the sender puts the bytes there and tells when it has (P4 section 3.3), or puts
/// one half while the receiver reads the other; or a message of the transport, where it has them. Nothing of
/// either is left over for the next call.
template <mailbox_transport Net>
task<> send(Net& net, int to, call_id now, std::span<const std::byte> out) {
  if constexpr (message_transport<Net>) {
    if (transfer::is_whole(net, out.size())) {
      const auto giving = net.post_send(to, now, out);
      co_await net.sent(to, now);
      co_return;
    }
  }
  if constexpr (one_sided_transport<Net>) {
    if (transfer::is_zero_copy_one_way(net, out.size())) {
      if constexpr (core_copying_transport<Net>) {
        if (transfer::own_cores_copy(net)) {
          co_await transfer::send_from_both(net, to, now, out);
          co_return;
        }
      }
      co_await transfer::send_by_put(net, to, now, out);
      co_return;
    }
  }
  for (const auto chunk : chunks{out, net.block_bytes()}) co_await net.send(to, now, chunk);
}

/// Receives what rank `from` sends by `send`: in.size() bytes.
template <mailbox_transport Net>
task<> receive(Net& net, int from, call_id now, std::span<std::byte> in) {
  if constexpr (message_transport<Net>) {
    if (transfer::is_whole(net, in.size())) {
      const auto taking = net.post_receive(from, now, in);
      co_await net.received(from, now);
      co_return;
    }
  }
  if constexpr (one_sided_transport<Net>) {
    if (transfer::is_zero_copy_one_way(net, in.size())) {
      if constexpr (core_copying_transport<Net>) {
        if (transfer::own_cores_copy(net)) {
          co_await transfer::receive_from_both(net, from, now, in);
          co_return;
        }
      }
      const auto exposed = net.expose(in);
      const remote_region here = exposed.region();
      co_await net.send(from, now, bytes_of(here));
      const auto done = co_await net.receive(from, now);
      static_cast<void>(transfer::exact(net, from, now, done, 0));
      co_return;
    }
  }
  for (const auto chunk : chunks{in, net.block_bytes()}) {
    const auto message = co_await net.receive(from, now);
    transfer::place(net, from, now, message, chunk);
  }
}

/// Reads what rank `from` offers by sending a region of in.size() bytes, and tells it when that is over.
template <reading_transport Net>
task<> fetch(Net& net, int from, call_id now, std::span<std::byte> in) {
  const auto local = net.expose(in);
  remote_region there;
  {
    const auto offer = co_await net.receive(from, now);
    there = transfer::read_region(net, from, now, offer, in.size());
  }
  co_await net.get(there, 0, local, in, now);
  co_await net.send(from, now, {});
}

/// What `exchange` does, without addresses that are exchanged: through the mailbox whatever the size, or by
/// messages of the transport.
template <mailbox_transport Net>
task<> copy(Net& net, call_id now, int to, std::span<const std::byte> out, int from,
            std::span<std::byte> in) {
  if constexpr (message_transport<Net>) {
    if (transfer::is_whole(net, out.size()) || transfer::is_whole(net, in.size())) {
      const going one_out{to, out};
      const coming one_in{from, in};
      co_await transfer::move(net, now, std::span{&one_out, out.empty() ? 0U : 1U},
                              std::span{&one_in, in.empty() ? 0U : 1U});
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

/// `exchange` where `out` lies in what `lent` covers and `in` in what this rank exposes as `exposed`, for
/// operations of several steps. What is put is to be flushed by the caller; `out` may not change before that.
template <one_sided_transport Net, class Lent>
task<> exchange_within(Net& net, call_id now, int to, std::span<const std::byte> out, const Lent& lent,
                       int from, std::span<std::byte> in, remote_region exposed) {
  const bool puts = transfer::is_zero_copy(net, out.size());
  const bool offers = transfer::is_zero_copy(net, in.size());
  if (offers) {
    const remote_region here = part_of(exposed, in);
    co_await net.send(from, now, bytes_of(here));
  }
  if (puts) {
    remote_region there;
    {
      const auto offer = co_await net.receive(to, now);
      there = transfer::read_region(net, to, now, offer, out.size());
    }
    co_await net.put_notified(there, 0, lent, out, now);
  }
  co_await transfer::copy(net, now, to, puts ? out.first(0) : out, from, offers ? in.first(0) : in);
  if (offers) co_await net.notified(from, now);
}

/// Sends `out` to rank `to` and receives `in` from rank `from`, which call `exchange` too, both at once, so
/// that ranks which do this in a circle do not wait for each other's free blocks. Either may be empty; then
/// its rank does not matter.
template <mailbox_transport Net>
task<> exchange(Net& net, call_id now, int to, std::span<const std::byte> out, int from,
                std::span<std::byte> in) {
  const bool puts = transfer::is_zero_copy(net, out.size());
  const bool offers = transfer::is_zero_copy(net, in.size());
  if constexpr (one_sided_transport<Net>) {
    if (puts || offers) {
      const auto exposed = net.expose(offers ? in : in.first(0));
      const auto lent = net.lend(puts ? out : out.first(0));
      co_await transfer::exchange_within(net, now, to, out, lent, from, in, exposed.region());
      if (puts) co_await net.flush(to, now);
      co_return;
    }
  }
  co_await transfer::copy(net, now, to, out, from, in);
}

}  // namespace chorale::transfer
