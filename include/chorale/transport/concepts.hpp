// What an algorithm may ask of a transport: two ladders of concepts, so that it asks only for what it needs.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include <chorale/core/call.hpp>
#include <chorale/core/task.hpp>

namespace chorale {

/// Something that `co_await` accepts directly.
template <class A>
concept awaitable = requires(A a) {
  { a.await_ready() } -> std::convertible_to<bool>;
  a.await_resume();
}
|| requires(A a) {
  static_cast<A&&>(a).operator co_await();
};

/// A message that has arrived in a block of the mailbox. `bytes()` is valid until `release()` or the end of
/// the object, which give the block back to the sender; messages of one sender are released in their order.
template <class M>
concept arrived_message = std::movable<M> && requires(M m) {
  { m.bytes() } -> std::same_as<std::span<const std::byte>>;
  m.release();
};

/// *Mailbox*: small messages into blocks that were registered in advance.
///
/// * `block_bytes()`: the largest message, in bytes; a payload begins on a 16-byte boundary at the receiver.
/// * `signal(to, now)` / `signalled(from, now)`: a flag without payload, one place for each peer, overwritten
///   by later calls; waiting for call n is satisfied by n or a later one (P1 section 5.2).
/// * `send(to, now, bytes)` / `receive(from, now)`: messages of one sender to one receiver arrive in order,
/// each
///   exactly once. The source may be reused when `send` is over. At most `blocks` messages are under way
///   to one receiver; then `send` waits for the receiver's notification (P2 section 4.1.4), so no algorithm
///   can overwrite what has not been read.
///
/// Every one of them is awaited, since each may have to wait: for a connection that is made on first use, for
/// a free block, for the peer. Awaiting costs no suspension if there is nothing to wait for.
/// Each throws `error`: errc::mismatch (the peer is in another call of this number), errc::peer_lost,
/// errc::deadline. One thread at a time.
template <class T>
concept mailbox_transport = requires(T& net, int peer, epoch now, std::span<const std::byte> payload) {
  { net.rank() } -> std::same_as<int>;
  { net.size() } -> std::same_as<int>;
  { net.block_bytes() } -> std::same_as<std::size_t>;
  { net.frames() } -> std::same_as<frame_arena&>;
  { net.signal(peer, now) } -> awaitable;
  { net.signalled(peer, now) } -> awaitable;
  { net.send(peer, now, payload) } -> awaitable;
  { net.receive(peer, now) } -> awaitable;
  requires arrived_message<decltype(net.receive(peer, now).await_resume())>;
};

/// Memory that a peer has exposed, as it travels in a message: 24 bytes, trivially copyable.
struct remote_region {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t key = 0;
  std::int32_t owner = -1;  ///< rank
};

/// *One-sided*: writing to and reading from user memory that peers expose, zero copy, without their CPU.
///
/// * `zero_copy_bytes()`: from this size on a message is worth it.
/// * `expose(memory)`: registers memory that peers may write and read, as long as the returned object lives;
///   its `region()` is what they need to know. `offer(memory)`: the same of memory that they may only read.
///   `lend(memory)`: memory that is only a source here.
/// * `put(region, offset, lent, from, now)`: begins to write; `from` must not change before `flush`. What is
///   put to a rank is there before any later message, signal or notice to it.
/// * `flush(peer, now)`: all that was put to that rank has been placed, and its sources may be used again.
/// * `get(region, offset, exposed, into, now)`: over when the bytes are here.
/// * `put_notified(...)`: as `put`; the target learns of it by `notified(from, now)`, one for each in their
///   order (P5 section 4.1: RDMA write with immediate).
///
/// Sizes are in bytes, zero included, up to the region's; errc::invalid_argument outside of it.
template <class T>
concept one_sided_transport = mailbox_transport<T> &&
    requires(T& net, int peer, epoch now, remote_region region, std::size_t offset,
             std::span<std::byte> memory, std::span<const std::byte> source) {
  { net.zero_copy_bytes() } -> std::same_as<std::size_t>;
  { net.expose(memory).region() } -> std::same_as<remote_region>;
  { net.offer(source).region() } -> std::same_as<remote_region>;
  { net.put(region, offset, net.lend(source), source, now) } -> awaitable;
  { net.put_notified(region, offset, net.lend(source), source, now) } -> awaitable;
  { net.notified(peer, now) } -> awaitable;
  { net.flush(peer, now) } -> awaitable;
  { net.get(region, offset, net.expose(memory), memory, now) } -> awaitable;
};

/// *Reading*: one-sided, with reads that the device makes by itself, so that they cost what writes do.
template <class T>
concept reading_transport = one_sided_transport<T> && T::reads_by_device;

/// *Atomic*: operations on aligned 8-byte words of exposed memory, atomic among themselves; each is over when
/// the old value is here. `expose_alone(memory)`: as `expose`, of these bytes and no others, and of none once
/// the returned object has ended.
template <class T>
concept atomic_transport = one_sided_transport<T> &&
    requires(T& net, remote_region region, std::size_t offset, std::uint64_t value, epoch now,
             std::span<std::byte> memory) {
  { net.expose_alone(memory).region() } -> std::same_as<remote_region>;
  { net.fetch_add(region, offset, value, now) } -> awaitable;
  { net.compare_swap(region, offset, value, value, now) } -> awaitable;
};

/// *Path choosing*: there are connections for some of the peers, and an algorithm may say for whom.
///
/// * `wants_connection(peer)`: asks for one, within the limit of the transport; whether and when it comes
/// changes
///   nothing but the cost. Ignored by transports that choose themselves.
template <class T>
concept path_choosing_transport = mailbox_transport<T> && requires(T& net, int peer) {
  net.wants_connection(peer);
};

/// *Multicast*: one datagram to all ranks, made reliable; beside a mailbox.
///
/// * `join_multicast()`: this rank takes part from now on. Whoever waits or sends joins by it; a rank that
/// joins late
///   has lost what came before, and has it repeated.
/// * `multicast_signal(now)` / `multicast_signalled(root, now)`: call `now` is over, says its root to all;
/// one place
///   for each root, overwritten by later calls; never acknowledged (P1 section 5.4).
/// * `multicast(now, bytes)` / `multicast_receive(root, now)`: messages of at most `multicast_bytes()` to all
/// other
///   ranks, which all have to receive them: in the sender's order, each exactly once. `bytes` may be reused
///   when it is over, which is before they have arrived; it waits only while the slowest rank is a window
///   behind.
template <class T>
concept multicast_transport = mailbox_transport<T> &&
    requires(T& net, int root, epoch now, std::span<const std::byte> payload) {
  net.join_multicast();
  { net.multicast_bytes() } -> std::same_as<std::size_t>;
  { net.multicast_signal(now) } -> awaitable;
  { net.multicast_signalled(root, now) } -> awaitable;
  { net.multicast(now, payload) } -> awaitable;
  { net.multicast_receive(root, now) } -> awaitable;
  requires arrived_message<decltype(net.multicast_receive(root, now).await_resume())>;
};

}  // namespace chorale
