// SPDX-License-Identifier: Apache-2.0
// Transfers whose size each of the two ranks knows only from its own arguments, so that they have to agree.
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/sendable.hpp>

/// If only the two ranks concerned know the size of a transfer, the first message from a rank to a peer
/// begins with an *envelope*: the number of bytes that the rank sends to the peer, the number it receives
/// from the peer, and the region for zero copy. The first data bytes follow if they travel in blocks. Thus
/// both ranks know both counts before any byte is placed, and a short transfer is still a single message. A
/// rank with nothing to send also sends an envelope. A long transfer needs no extra wait, since the envelope
/// and the receiver's offer cross.
///
/// `by_place` sends the sizes of all blocks of a place ahead of them instead (`joint_blocks.hpp`).
///
/// If the counts differ, the receiver of an envelope throws errc::mismatch, which names both. A rank that has
/// only sent short data may have returned by then; it gets the error at its next call.
namespace chorale::agreed {

/// The bytes that this rank sends to a peer and takes from it in a call, according to this rank's arguments.
struct share {
  std::size_t sends = 0;
  std::size_t takes = 0;
};

/// An envelope as it is sent.
struct envelope {
  std::uint64_t sends = 0;
  std::uint64_t takes = 0;
  /// Where the peer may put its data, or read this rank's data; empty if data travel in blocks.
  remote_region place;
};
static_assert(sizeof(envelope) == 48 && detail::sendable<envelope>);

/// Offset of the data in a message: a multiple of 16 bytes, as all payloads are aligned.
inline constexpr std::size_t envelope_room = sizeof(envelope);
static_assert(envelope_room % 16 == 0);

/// How many of the `bytes` that a rank sends follow its envelope in the same message: none if the transport
/// sends them as a separate message. Precondition of this file: a block of the transport is longer than an
/// envelope.
template <mailbox_transport Net>
[[nodiscard]] std::size_t first_bytes(const Net& net, std::size_t bytes) noexcept {
  return transfer::is_whole(net, bytes) ? 0 : std::min(bytes, net.block_bytes() - envelope_room);
}

/// Makes first messages. Each is valid until the next is made.
class sealed {
 public:
  [[nodiscard]] std::span<const std::byte> operator()(share mine, const remote_region& place,
                                                      std::span<const std::byte> data) {
    const envelope e{mine.sends, mine.takes, place};
    message_.resize(envelope_room + data.size());
    std::memcpy(message_.data(), &e, sizeof e);
    if (!data.empty()) copy_bytes(message_.data() + envelope_room, data.data(), data.size());
    return message_;
  }

 private:
  std::vector<std::byte> message_;
};

/// The contents of a first message that agrees with this rank's arguments.
struct opened {
  remote_region place;
  std::span<const std::byte> data;
};

/// The envelope of the first message of rank `from`, and the data after it. @throws error errc::mismatch if
/// the message is shorter than an envelope.
template <mailbox_transport Net, arrived_message Message>
[[nodiscard]] std::pair<envelope, std::span<const std::byte>> unseal(const Net& net, int from, call_id now,
                                                                     const Message& message) {
  const std::span<const std::byte> bytes = message.bytes();
  envelope e;
  if (bytes.size() < envelope_room)
    chorale::throw_unequal_sizes(net, now, net.rank(), envelope_room, from, bytes.size());
  std::memcpy(&e, bytes.data(), sizeof e);
  return {e, bytes.subspan(envelope_room)};
}

/// Opens the first message of rank `from`, which must have `data` bytes after its envelope. @throws error
/// errc::mismatch if the counts of the two ranks differ.
template <mailbox_transport Net, arrived_message Message>
[[nodiscard]] opened open(const Net& net, int from, call_id now, const Message& message, share mine,
                          std::size_t data) {
  const auto [e, behind] = agreed::unseal(net, from, now, message);
  if (e.sends != mine.takes) chorale::throw_unequal_sizes(net, now, net.rank(), mine.takes, from, e.sends);
  if (e.takes != mine.sends) chorale::throw_unequal_sizes(net, now, from, e.takes, net.rank(), mine.sends);
  if (behind.size() != data) chorale::throw_unequal_sizes(net, now, net.rank(), data, from, behind.size());
  return {e.place, behind};
}

/// Checks that `place` is a region of `bytes` that rank `owner` exposes. @returns `place`. @throws error
/// errc::mismatch.
template <mailbox_transport Net>
[[nodiscard]] remote_region exactly(const Net& net, int owner, call_id now, const remote_region& place,
                                    std::size_t bytes) {
  if (!chorale::is_owned_by(net, owner, place) || place.bytes != bytes)
    chorale::throw_unequal_sizes(net, now, owner, place.bytes, net.rank(), bytes);
  return place;
}

/// Copies the data after an envelope to the start of `in`.
inline void place_first(const opened& message, std::span<std::byte> in) noexcept {
  if (!message.data.empty()) copy_bytes(in.data(), message.data.data(), message.data.size());
}

/// The memory of a call with several transfers, registered once: `lent` is sent from, `exposed` may be
/// written by peers, and may be replaced by a substitute. Registers nothing on transports without one-sided
/// operations, where nothing can be put, and nothing needs to be awaited.
template <mailbox_transport Net>
struct memory {
  memory(Net&, std::span<const std::byte>, std::span<std::byte>&) noexcept {}
  [[nodiscard]] remote_region part(std::span<const std::byte>) const noexcept { return {}; }
  std::suspend_never put(Net&, int, call_id, const remote_region&, std::span<const std::byte>) const {
    return {};
  }
  std::suspend_never notified(Net&, int, call_id) const { return {}; }
  std::suspend_never flush(Net&, int, call_id) const { return {}; }
  void copy_back(const block_layout&) const noexcept {}
};
template <one_sided_transport Net>
struct memory<Net> {
  transfer::call_memory<Net, const std::byte> lent;
  transfer::call_memory<Net, std::byte> exposed;

  memory(Net& net, std::span<const std::byte> out, std::span<std::byte>& in)
      : lent(transfer::lend(net, out)), exposed(transfer::expose(net, in)) {}
  /// The region of `bytes`, which a peer may fill.
  [[nodiscard]] remote_region part(std::span<const std::byte> bytes) const noexcept {
    return transfer::part_of(exposed.region(), bytes);
  }
  /// Puts `out`, a part of the lent memory, into `place`, which rank `to` exposes, and notifies that rank.
  /// @throws error errc::mismatch if `place` is no region of that rank and size.
  [[nodiscard]] auto put(Net& net, int to, call_id now, const remote_region& place,
                         std::span<const std::byte> out) const {
    return net.put_notified(agreed::exactly(net, to, now, place, out.size()), 0, lent, lent.current(out),
                            now);
  }
  [[nodiscard]] auto notified(Net& net, int from, call_id now) const { return net.notified(from, now); }
  [[nodiscard]] auto flush(Net& net, int to, call_id now) const { return net.flush(to, now); }
  /// As `call_memory::copy_back`, of the exposed memory.
  void copy_back(const block_layout& layout) const noexcept { exposed.copy_back(layout); }
};

/// Sends `out` to rank `to`, which calls `agreed::receive`, with no data in the other direction. @throws
/// error errc::mismatch if the receiver expects another number of bytes, unless this call has returned by
/// then.
template <mailbox_transport Net>
task<> send(Net& net, int to, call_id now, std::span<const std::byte> out) {
  const share mine{.sends = out.size()};
  const bool straight = transfer::is_zero_copy_one_way(net, out.size());
  const std::size_t first = straight ? 0 : agreed::first_bytes(net, out.size());
  sealed seal;
  co_await net.send(to, now, seal(mine, {}, out.first(first)));
  if constexpr (one_sided_transport<Net>) {
    if (straight) {
      const auto lent = transfer::lend(net, out);
      remote_region there;
      {
        const auto offer = co_await net.receive(to, now);
        there = agreed::exactly(net, to, now, agreed::open(net, to, now, offer, mine, 0).place, out.size());
      }
      co_await net.put(there, 0, lent, lent.current(out), now);
      co_await net.send(to, now, {});
      co_await net.flush(to, now);
      co_return;
    }
  }
  if (first < out.size()) co_await transfer::send(net, to, now, out.subspan(first));
}

/// Receives in.size() bytes from rank `from`, which calls `agreed::send`.
/// @throws error errc::mismatch if that rank sends another number of bytes.
template <mailbox_transport Net>
task<> receive(Net& net, int from, call_id now, std::span<std::byte> in) {
  const share mine{.takes = in.size()};
  if constexpr (one_sided_transport<Net>) {
    if (transfer::is_zero_copy_one_way(net, in.size())) {
      const auto exposed = transfer::expose(net, in);
      sealed seal;
      co_await net.send(from, now, seal(mine, exposed.region(), {}));
      {
        const auto message = co_await net.receive(from, now);
        static_cast<void>(agreed::open(net, from, now, message, mine, 0));
      }
      {
        const auto done = co_await net.receive(from, now);
        static_cast<void>(transfer::exact(net, from, now, done, 0));
      }
      exposed.copy_back();
      co_return;
    }
  }
  const std::size_t first = agreed::first_bytes(net, in.size());
  {
    const auto message = co_await net.receive(from, now);
    agreed::place_first(agreed::open(net, from, now, message, mine, first), in);
  }
  if (first < in.size()) co_await transfer::receive(net, from, now, in.subspan(first));
}

}  // namespace chorale::agreed
