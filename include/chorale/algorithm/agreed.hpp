// Transfers whose size each of the two ranks knows from its own arguments only, so that they have to agree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/sendable.hpp>

/// The first message that a rank sends another in such a call begins with an *envelope*: how many bytes the
/// rank sends to that one in this call, how many it takes, and where those go if they are put straight.
/// Behind it come the first of the bytes that the rank sends, if they go by blocks. So both ranks know both
/// counts before a byte is placed, and a short transfer is one message as ever. A rank that has nothing to
/// send sends an envelope too. A long transfer costs no wait either: the envelope and the receiver's offer
/// cross.
///
/// Where the counts differ, whoever receives an envelope throws errc::mismatch that names both. A rank that
/// has only sent short data may be done before that: it hears of it at its next call.
namespace chorale::agreed {

/// What this rank and a peer move between each other in a call, in bytes, as this rank's arguments say.
struct share {
  std::size_t sends = 0;
  std::size_t takes = 0;
};

/// As it lies in a message.
struct envelope {
  std::uint64_t sends = 0;
  std::uint64_t takes = 0;
  /// Where the bytes that are taken are put, or those that are sent can be read; none if they go by blocks.
  remote_region place;
};
static_assert(sizeof(envelope) == 40 && detail::sendable<envelope>);

/// Bytes of a message before the data, which begins at a multiple of 16 bytes, as all payloads do.
inline constexpr std::size_t envelope_room = 48;

/// How many of the `bytes` that a rank sends travel behind its envelope: none if they are left to the
/// transport as a message of their own. Precondition of all here: a block of the transport is longer than an
/// envelope.
template <mailbox_transport Net>
[[nodiscard]] std::size_t first_bytes(const Net& net, std::size_t bytes) noexcept {
  return transfer::is_whole(net, bytes) ? 0 : std::min(bytes, net.block_bytes() - envelope_room);
}

/// Makes first messages, each valid until the next is made.
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

/// What was in a first message that agrees with this rank's arguments.
struct opened {
  remote_region place;
  std::span<const std::byte> data;
};

/// Opens the first message of rank `from`, which has to have `data` bytes behind its envelope.
/// @throws error errc::mismatch if that rank's counts are not those of this one.
template <mailbox_transport Net, arrived_message Message>
[[nodiscard]] opened open(const Net& net, int from, call_id now, const Message& message, share mine,
                          std::size_t data) {
  const std::span<const std::byte> bytes = message.bytes();
  envelope e;
  if (bytes.size() < envelope_room)
    chorale::throw_unequal_sizes(now.what, net.rank(), envelope_room, from, bytes.size());
  std::memcpy(&e, bytes.data(), sizeof e);
  if (e.sends != mine.takes) chorale::throw_unequal_sizes(now.what, net.rank(), mine.takes, from, e.sends);
  if (e.takes != mine.sends) chorale::throw_unequal_sizes(now.what, from, e.takes, net.rank(), mine.sends);
  const auto behind = bytes.subspan(envelope_room);
  if (behind.size() != data) chorale::throw_unequal_sizes(now.what, net.rank(), data, from, behind.size());
  return {e.place, behind};
}

/// Checks that `place` is `bytes` of memory that rank `owner` exposes, and returns it.
/// @throws error errc::mismatch if it is not.
template <mailbox_transport Net>
[[nodiscard]] remote_region exactly(const Net& net, int owner, call_id now, const remote_region& place,
                                    std::size_t bytes) {
  if (place.owner != owner || place.bytes != bytes)
    chorale::throw_unequal_sizes(now.what, owner, place.bytes, net.rank(), bytes);
  return place;
}

/// Copies what came behind an envelope to the start of `in`.
inline void place_first(const opened& message, std::span<std::byte> in) noexcept {
  if (!message.data.empty()) copy_bytes(in.data(), message.data.data(), message.data.size());
}

/// The memory of a call that makes several transfers, registered once: what is only sent, and what peers may
/// fill. On transports without one-sided operations it registers nothing.
template <mailbox_transport Net>
struct memory {
  memory(Net&, std::span<const std::byte>, std::span<std::byte>) noexcept {}
  [[nodiscard]] remote_region part(std::span<const std::byte>) const noexcept { return {}; }
};
template <one_sided_transport Net>
struct memory<Net> {
  decltype(std::declval<Net&>().lend(std::span<const std::byte>{})) lent;
  decltype(std::declval<Net&>().expose(std::span<std::byte>{})) exposed;

  memory(Net& net, std::span<const std::byte> out, std::span<std::byte> in)
      : lent(net.lend(out)), exposed(net.expose(in)) {}
  /// The part of it that a peer may fill.
  [[nodiscard]] remote_region part(std::span<const std::byte> bytes) const noexcept {
    return transfer::part_of(exposed.region(), bytes);
  }
};

/// Sends `out` to rank `to`, which calls `agreed::receive`, while nothing goes the other way.
/// @throws error errc::mismatch if that rank takes another number of bytes, and this one sees it.
template <mailbox_transport Net>
task<> send(Net& net, int to, call_id now, std::span<const std::byte> out) {
  const share mine{.sends = out.size()};
  const bool straight = transfer::is_zero_copy_one_way(net, out.size());
  const std::size_t first = straight ? 0 : agreed::first_bytes(net, out.size());
  sealed seal;
  co_await net.send(to, now, seal(mine, {}, out.first(first)));
  if constexpr (one_sided_transport<Net>) {
    if (straight) {
      const auto lent = net.lend(out);
      remote_region there;
      {
        const auto offer = co_await net.receive(to, now);
        there = agreed::exactly(net, to, now, agreed::open(net, to, now, offer, mine, 0).place, out.size());
      }
      co_await net.put(there, 0, lent, out, now);
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
      const auto exposed = net.expose(in);
      sealed seal;
      co_await net.send(from, now, seal(mine, exposed.region(), {}));
      {
        const auto message = co_await net.receive(from, now);
        static_cast<void>(agreed::open(net, from, now, message, mine, 0));
      }
      const auto done = co_await net.receive(from, now);
      static_cast<void>(transfer::exact(net, from, now, done, 0));
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
