// All that is used of a transport, in layers, so that each user of one asks only for what it needs:
//
//   an algorithm                       mailbox_transport
//   ... with several children          sharing_transport
//   ... whose messages answer others   answering_transport
//   ... that moves long messages       one_sided_transport, reading_transport; or message_transport
//   ... that keeps registered memory   keeping_transport
//   ... that puts payloads aside       scratch_transport
//   ... that shares memory of a host   mapping_transport
//   ... that multicasts                multicast_transport
//   ... that asks for connections      path_choosing_transport
//   the choice among algorithms        tunable_transport
//   a communicator                     communicator_transport
//   a window                           window_transport (above memory_transport, atomic_transport)
//
// tests/fake/transport.hpp has all of the layers of algorithms, in one process and without a device;
// docs/guide/writing-a-transport.md says how to write a transport.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <chorale/core/call.hpp>
#include <chorale/core/task.hpp>

namespace chorale {

struct config;

namespace transport {
class endpoint;
struct joined_group;
struct joining_plan;
}  // namespace transport

/// Something that `co_await` accepts directly.
template <class A>
concept awaitable = requires(A a) {
  { a.await_ready() } -> std::convertible_to<bool>;
  a.await_resume();
} || requires(A a) { static_cast<A&&>(a).operator co_await(); };

/// A message that has arrived in a block of the mailbox. `bytes()` is valid until `release()` or the end of
/// the object, which give the block back to the sender; messages of one sender are released in their order.
template <class M>
concept arrived_message = std::movable<M> && requires(M m, const M& seen) {
  { seen.bytes() } -> std::same_as<std::span<const std::byte>>;
  m.release();
};

/// *Mailbox*: small messages into blocks that were registered in advance. Every algorithm needs it.
///
/// * `rank()`, `size()`: who this is of how many, the same for the life of the transport.
/// * `block_bytes()`: the largest message, in bytes, at least 64 and the same on all ranks; a payload begins
///   on a 16-byte boundary at the receiver.
/// * `blocks()`: messages of one sender that one receiver may have, received or not, until it releases one:
///   2 or more, the same on all ranks.
/// * `signal(to, now)` / `signalled(from, now)`: a flag without payload, one place for each peer, overwritten
///   by later calls; waiting for call n is satisfied by n or a later one (P1 section 5.2).
/// * `send(to, now, bytes)` / `receive(from, now)`: messages of one sender to one receiver arrive in order,
///   each exactly once. The source may be reused when `send` is over. While `blocks()` messages are under way
///   to a receiver `send` waits for its notification (P2 section 4.1.4), so that no algorithm can overwrite
///   what has not been read.
/// * `frames()`: the arena of the coroutines of this rank's algorithms.
/// * `state<S>()`: what an algorithm keeps from call to call, one default-constructed `S` for each type.
///
/// Operations are awaited, since each may have to wait: for a connection that is made on first use, for a
/// free block, for the peer. Awaiting costs no suspension if there is nothing to wait for. `now` is the call,
/// as the algorithm was given it: the same on all ranks, which never meet in calls of the same number that
/// differ; and it says whether this rank waits or parks. Each operation throws `error`: errc::mismatch (the
/// peer is in another call of this number), errc::peer_lost, errc::deadline. One thread at a time.
template <class T>
concept mailbox_transport =
    requires(T& net, const T& seen, int peer, call_id now, std::span<const std::byte> payload) {
      { seen.rank() } -> std::same_as<int>;
      { seen.size() } -> std::same_as<int>;
      { seen.block_bytes() } -> std::same_as<std::size_t>;
      { seen.blocks() } -> std::same_as<std::size_t>;
      { net.signal(peer, now) } -> awaitable;
      { net.signalled(peer, now) } -> awaitable;
      { net.send(peer, now, payload) } -> awaitable;
      { net.receive(peer, now) } -> awaitable;
      requires arrived_message<decltype(net.receive(peer, now).await_resume())>;
      { net.frames() } -> std::same_as<frame_arena&>;
      { net.template state<std::size_t>() } -> std::same_as<std::size_t&>;
    };

/// *Messages*: messages of any length between the memories of two ranks, as an MPI over send and receive has
/// them. Short ones are copied through blocks, long ones are moved as the transport does it, each by itself:
/// nothing is agreed in advance, and nothing registered for more than one.
///
/// * `post_send(to, now, bytes)`, `post_receive(from, now, into)`: begin, and do not wait. The memory may not
///   be changed, or used, before the message is over. What they return lives until then; one that an
///   exception ends first puts this rank's memory out of reach, as those of `expose` do. Messages of one rank
///   to another are matched in the order in which they are posted; `send` and `receive` count among them. A
///   message of at most `block_bytes()` may be sent by the one and received by the other way. Nothing is sent
///   for no bytes.
/// * `sent(to, now)`: all that was posted to that rank may be changed again. `received(from, now)`: all that
///   was posted from that rank is filled. errc::mismatch if a message has another length than its place.
///
/// Posted messages move on while any operation waits. Algorithms post all that a step moves before they wait
/// for any of it, so that ranks in a circle do not wait for each other.
template <class T>
concept message_transport =
    mailbox_transport<T> &&
    requires(T& net, int peer, call_id now, std::span<const std::byte> bytes, std::span<std::byte> into) {
      { net.post_send(peer, now, bytes) } -> std::movable;
      { net.post_receive(peer, now, into) } -> std::movable;
      { net.sent(peer, now) } -> awaitable;
      { net.received(peer, now) } -> awaitable;
    };

/// *Sharing*: a payload that goes to several peers is prepared for them all at once.
///
/// * `for_several(bytes)`: that payload, of at most `block_bytes()`, for `send(to, now, payload)` to several
///   peers in the same call. `bytes` do not change as long as it lives. Move it nowhere.
template <class T>
concept sharing_transport =
    mailbox_transport<T> && requires(T& net, int peer, call_id now, std::span<const std::byte> bytes) {
      { net.send(peer, now, std::declval<decltype(net.for_several(bytes))&>()) } -> awaitable;
    };

/// *Answering*: a message of an algorithm may take the place of notifications of messages that were given
/// back (P2 section 4.2.4). Both sides have to say so in each call, or the sender runs out of blocks.
///
/// * `will_answer(from)`: this rank has taken and given back all that rank `from` has sent it, which needs no
///   notification, since rank `from` will know. Before it takes anything else of that rank.
/// * `sent_to(to)`: messages that this rank has sent to that one, ever; not those on other paths, which are
///   not notified of.
/// * `answered_by(to, messages)`: something came of which the algorithm knows that no rank could have sent it
///   before rank `to` had given back the first `messages`, a value of `sent_to`.
///
/// An answer that is none lets the sender write into blocks that are still in use: errc::misuse at the
/// receiver when it gets to see that. tests/fake/transport.hpp sees it at once.
template <class T>
concept answering_transport =
    mailbox_transport<T> && requires(T& net, const T& seen, int peer, std::uint64_t messages) {
      net.will_answer(peer);
      { seen.sent_to(peer) } -> std::same_as<std::uint64_t>;
      net.answered_by(peer, messages);
    };

/// Memory that a peer has exposed, as it travels in a message: 24 bytes, trivially copyable.
struct remote_region {
  std::uint64_t address = 0;  ///< at its owner
  std::uint64_t bytes = 0;    ///< how many
  std::uint32_t key = 0;      ///< by which the owner's adapter lets others reach it
  std::int32_t owner = -1;    ///< rank
};

/// Memory that a transport may use as long as this object lives. `region()`: what peers need to know of it.
template <class M>
concept registered_memory = std::movable<M> && requires(const M& memory) {
  { memory.region() } -> std::same_as<remote_region>;
};

/// *Memory*: writing to and reading from user memory that peers expose, zero copy, without their CPU.
///
/// * `zero_copy_bytes()`: from this size on a message is worth it; the same on all ranks.
/// * `expose(memory)`: registers memory that peers may write and read, as long as the returned object lives.
///   `offer(memory)`: the same of memory that they may only read. `lend(memory)`: memory that is only a
///   source here. All give the same type; none writes or reads the memory by itself. One that an exception
///   ends, an operator's or the algorithm's, puts this rank's memory out of reach before what ends next; then
///   the call fails.
/// * `put(region, offset, source, from, now)`: begins to write `from`, which lies in the registered `source`
///   and must not change before `flush`. What is put to a rank is there before any later message, signal or
///   notice to it.
/// * `flush(peer, now)`: all that was put to that rank has been placed, and its sources may be used again.
///   Nothing to do where nothing was put.
/// * `get(region, offset, target, into, now)`: over when the bytes are here; `into` lies in `target`, which
///   is exposed.
/// * `put_notified(...)`: as `put`; the target learns of it by `notified(from, now)`, one for each in their
///   order (P5 section 4.1: RDMA write with immediate).
///
/// A region may be a part of what was exposed: the same key and owner, another address and size. Sizes are in
/// bytes, zero included, up to the region's; errc::invalid_argument outside of it.
template <class T>
concept memory_transport =
    mailbox_transport<T> &&
    requires(T& net, const T& seen, int peer, call_id now, remote_region region, std::size_t offset,
             std::span<std::byte> memory, std::span<const std::byte> source) {
      { seen.zero_copy_bytes() } -> std::same_as<std::size_t>;
      { net.expose(memory) } -> registered_memory;
      { net.offer(source) } -> std::same_as<decltype(net.expose(memory))>;
      { net.lend(source) } -> std::same_as<decltype(net.expose(memory))>;
      { net.put(region, offset, net.lend(source), source, now) } -> awaitable;
      { net.put_notified(region, offset, net.lend(source), source, now) } -> awaitable;
      { net.notified(peer, now) } -> awaitable;
      { net.flush(peer, now) } -> awaitable;
      { net.get(region, offset, net.expose(memory), memory, now) } -> awaitable;
    };

/// *One-sided*: algorithms move long messages by these operations, into memory of which they exchange the
/// addresses. Where a transport has messages of any length, its memory operations are for windows alone.
template <class T>
concept one_sided_transport = memory_transport<T> && !message_transport<T>;

/// *Keeping*: registered memory of an algorithm's own that stays from call to call.
///
/// * `keep(bytes)`: so many zeroes that peers may write and read as long as the returned object lives; it is
///   moved into `state<S>()`, and so ends with the transport, or when the algorithm gives it up. `memory()`
///   are the bytes, `exposure()` is what a put from there takes as its source. No failure ends it.
/// * What was put from there need not be flushed if the algorithm learns in another way that it has been
///   placed, before it changes it: from a message, say, of a rank that has it.
template <class T>
concept keeping_transport = one_sided_transport<T> && requires(T& net, std::size_t bytes) {
  { net.keep(bytes) } -> registered_memory;
  { net.keep(bytes).memory() } -> std::same_as<std::span<std::byte>>;
  net.keep(bytes).exposure();
};

/// *Scratch*: has memory in which algorithms put payloads aside during a call, in place of the heap's. For
/// simulations whose payloads nobody keeps; what `scratch_of` returns for other transports is the heap's.
///
/// * `scratch(bytes)`: so many, of any contents, which `memory()` of the returned object are as long as it
///   lives. Only payloads are kept there, on which nothing that an algorithm does depends.
template <class T>
concept scratch_transport = mailbox_transport<T> && requires(T& net, std::size_t bytes) {
  { net.scratch(bytes) } -> std::movable;
  { net.scratch(bytes).memory() } -> std::same_as<std::span<std::byte>>;
};

/// *Mapping*: memory that other ranks keep is seen as memory of this process, where the ranks share a host
/// and the device has such memory. What lies there is written and read by all of them at once, by atomic
/// words.
///
/// * `maps_memory()`: whether it may be so for all ranks of the group: the same on all of them. `map` may
///   still give nothing.
/// * `map(region, now)`: memory that another rank has kept, as long as the returned object lives, whatever
///   becomes of that rank. `memory()` is empty if this rank cannot see it.
/// * `until(now, awaited, ready)`: over when `ready()` is true, which looks at such memory. `awaited()`: the
///   rank that is to change it, asked now and then while this rank waits; -1 if there is none. Both are
///   called in the await only.
/// * `differs(from, now, seen)`: to be called where memory says that rank `from` does not make call `now`,
///   but one of the number `seen`, as far as 32 bits tell. Asks that rank. @throws error errc::mismatch;
///   returns if it is the same call: then memory is to be looked at again.
template <class T>
concept mapping_transport =
    keeping_transport<T> && requires(T& net, const T& seen, int peer, call_id now, remote_region region,
                                     int (*awaited)(), bool (*ready)(), std::uint32_t number) {
      { seen.maps_memory() } -> std::same_as<bool>;
      { net.map(region, now) } -> awaitable;
      { net.map(region, now).await_resume().memory() } -> std::same_as<std::span<std::byte>>;
      { net.until(now, awaited, ready) } -> awaitable;
      net.differs(peer, now, number);
    };

/// *Reading*: one-sided, with reads that the device makes by itself, so that they cost what writes do.
template <class T>
concept reading_transport = one_sided_transport<T> && T::reads_by_device;

/// *Tunable*: knows what the choice among algorithms at run time depends on (`automatic`, and with it every
/// `standard` algorithm), all of it the same on all ranks.
///
/// * `name`: the transport's name in tuning tables, and in errors.
/// * `oversubscribed()`: whether ranks outnumber the cores of some host.
/// * `settings()`: the configuration; of it config::tuning and config::explain.
template <class T>
concept tunable_transport = mailbox_transport<T> && requires(const T& seen) {
  { T::name } -> std::convertible_to<const char*>;
  { seen.oversubscribed() } -> std::same_as<bool>;
  { seen.settings() } -> std::same_as<const config&>;
};

/// *Core-copying*: reading, and known who moves the bytes.
///
/// * `copies_by_core()`: puts and gets are copies by the core of the rank that asks for them, as those of a
///   software device: two ranks that copy a half each take half the time, and what a rank has read is in its
///   cache. The same on all ranks.
template <class T>
concept core_copying_transport = reading_transport<T> && tunable_transport<T> && requires(const T& seen) {
  { seen.copies_by_core() } -> std::same_as<bool>;
};

/// *Atomic*: operations on aligned 8-byte words of exposed memory, atomic among themselves; each is over when
/// the old value is here. `expose_alone(memory)`: as `expose`, of these bytes and no others, and of none once
/// the returned object has ended.
template <class T>
concept atomic_transport =
    memory_transport<T> && requires(T& net, remote_region region, std::size_t offset, std::uint64_t value,
                                    call_id now, std::span<std::byte> memory) {
      { net.expose_alone(memory) } -> std::same_as<decltype(net.expose(memory))>;
      { net.fetch_add(region, offset, value, now) } -> awaitable;
      { net.compare_swap(region, offset, value, value, now) } -> awaitable;
    };

/// *Path choosing*: there are connections for some of the peers, and an algorithm may say for whom.
///
/// * `wants_connection(peer)`: asks for one, within the limit of the transport; whether and when it comes
///   changes nothing but the cost. Ignored by transports that choose themselves.
template <class T>
concept path_choosing_transport =
    mailbox_transport<T> && requires(T& net, int peer) { net.wants_connection(peer); };

/// *Multicast*: one datagram to all ranks, made reliable; beside a mailbox.
///
/// * `join_multicast()`: this rank takes part from now on. Whoever waits or sends joins by it; a rank that
///   joins late has lost what came before, and has it repeated.
/// * `multicast_signal(now)` / `multicast_signalled(root, now)`: call `now` is over, says its root to all;
///   one place for each root, overwritten by later calls; never acknowledged (P1 section 5.4).
/// * `multicast(now, bytes)` / `multicast_receive(root, now)`: messages of at most `multicast_bytes()` to all
///   other ranks, which all have to receive them: in the sender's order, each exactly once. `bytes` may be
///   reused when it is over, which is before they have arrived; it waits only while the slowest rank is a
///   window behind.
template <class T>
concept multicast_transport = mailbox_transport<T> && requires(T& net, const T& seen, int root, call_id now,
                                                               std::span<const std::byte> payload) {
  net.join_multicast();
  { seen.multicast_bytes() } -> std::same_as<std::size_t>;
  { net.multicast_signal(now) } -> awaitable;
  { net.multicast_signalled(root, now) } -> awaitable;
  { net.multicast(now, payload) } -> awaitable;
  { net.multicast_receive(root, now) } -> awaitable;
  requires arrived_message<decltype(net.multicast_receive(root, now).await_resume())>;
};

/// *Communicator*: a transport that calls can be made over.
///
/// * `core()`: its `endpoint` (transport/endpoint.hpp), which has all that does not depend on how messages
///   travel: the numbers of calls, the waiting of blocking and the parking of nonblocking ones, failures,
///   names, the device and the group's origin.
/// * `plan(ranks, settings)`: what a rank brings to a group of so many ranks to join it with; static.
/// * `T{joined}`: this rank's part, when the group has been joined by that plan. `T{group, settings}`, of any
///   bootstrap::group, does both; collective.
/// * It may name a base that it shares with others of its kind as `seen_by_algorithms`: algorithms are
///   compiled for that.
template <class T>
concept communicator_transport =
    tunable_transport<T> && std::constructible_from<T, transport::joined_group> &&
    requires(T& net, const T& seen, int ranks, const config& settings) {
      { net.core() } -> std::same_as<transport::endpoint&>;
      { seen.core() } -> std::same_as<const transport::endpoint&>;
      { T::plan(ranks, settings) } -> std::same_as<transport::joining_plan>;
    };

/// *Window*: a transport that windows can be made over.
///
/// * `atomics_by_device`: whether atomic operations are the device's. Then those of a rank on its own memory
///   go through the device, too, and what peers write shows without the transport's help.
/// * `one_sided_port()`: the device port whose keys name exposed memory, where they are the device's. If not:
/// * `expect(from)`: is called while a write of rank `from` (-1: of any) is awaited in memory.
///
/// `lend(memory).beyond_calls()`: it belongs to no call; an exception that ends it is no failure of one.
template <class T>
concept window_transport = communicator_transport<T> && atomic_transport<T> &&
                           requires(T& net, int from, std::span<const std::byte> source) {
                             { T::atomics_by_device } -> std::convertible_to<bool>;
                             { net.lend(source).beyond_calls() } -> registered_memory;
                             requires(T::atomics_by_device && requires { net.one_sided_port(); }) ||
                                         (!T::atomics_by_device && requires { net.expect(from); });
                           };

/// *Registering*: memory operations need memory that is registered with the device, and registrations are
/// kept. `registrations()`: what there is. `forget(memory)`: gives up those of memory that is given back to
/// the device; nothing of it is in use. `expose(memory).beyond_calls()`: as for windows.
template <class T>
concept registering_transport = memory_transport<T> && requires(T& net, std::span<std::byte> memory) {
  { net.expose(memory).beyond_calls() } -> registered_memory;
  net.registrations();
  net.forget(memory);
};

/// True for transports over which the library has the standard algorithms in compiled form. Each says so
/// beside its definition, so that all programs agree.
template <class Net>
inline constexpr bool has_compiled_algorithms = false;

}  // namespace chorale
