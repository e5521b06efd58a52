// SPDX-License-Identifier: Apache-2.0
// The requirements on transports, in layers, so that each user of one asks only for what it needs:
//
//   an algorithm                       mailbox_transport
//   ... that uses places               placed_transport; laned_transport
//   ... with several children          sharing_transport
//   ... whose messages answer others   answering_transport
//   ... that moves long messages       one_sided_transport, reading_transport; or message_transport
//   ... that keeps registered memory   keeping_transport
//   ... that stores payloads           scratch_transport
//   ... that shares memory of a host   mapping_transport
//   ... that multicasts                multicast_transport
//   ... that requests connections      path_choosing_transport
//   the choice among algorithms        tunable_transport
//   a communicator                     communicator_transport
//   a window                           window_transport (above memory_transport, atomic_transport)
//
// tests/fake/transport.hpp implements all layers of algorithms, in one process and without a device;
// docs/guide/writing-a-transport.md says how to write a transport.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <chorale/core/call.hpp>
#include <chorale/core/remote_region.hpp>
#include <chorale/core/task.hpp>

namespace chorale {

struct config;
class places;

namespace transport {
class endpoint;
struct joined_group;
struct joining_plan;
}  // namespace transport

/// Something that `co_await` accepts directly.
template <class Algorithm>
concept awaitable = requires(Algorithm a) {
  { a.await_ready() } -> std::convertible_to<bool>;
  a.await_resume();
} || requires(Algorithm a) { static_cast<Algorithm&&>(a).operator co_await(); };

/// A message that has arrived in a block of the mailbox. `bytes()` is valid until `release()` or destruction,
/// which return the block to the sender; messages of one sender are released in order.
template <class Message>
concept arrived_message = std::movable<Message> && requires(Message m, const Message& seen) {
  { seen.bytes() } -> std::same_as<std::span<const std::byte>>;
  m.release();
};

/// *Mailbox*: small messages through blocks that were registered in advance. Every algorithm needs it.
///
/// * `rank()`, `size()`: this rank and the number of ranks, constant for the life of the transport.
/// * `block_bytes()`: the largest message in bytes, at least 64 and the same on all ranks; payloads are
///   aligned to 16 bytes at the receiver.
/// * `blocks()`: messages of one sender that one receiver may hold, received or not, until it releases one: 2
///   or more, the same on all ranks.
/// * `signal(to, now)` / `signalled(from, now)`: a flag without payload, one slot per peer, overwritten by
///   later calls; waiting for call n is satisfied by n or any later call (P1 section 5.2), and within a call
///   by its phase or any later one (`call_id::phase`).
/// * `send(to, now, bytes)` / `receive(from, now)`: messages of one sender to one receiver arrive in order,
///   exactly once. The source may be reused once `send` has completed. While `blocks()` messages to a
///   receiver are outstanding, `send` waits for its acknowledgement (P2 section 4.1.4), so that no algorithm
///   can overwrite unread messages. The receiver acknowledges at the latest when it has released half of
///   `blocks()` since its last acknowledgement: a sender whose earlier messages have all been released may
///   send `blocks() - blocks() / 2` more without waiting.
/// * `frames()`: the arena for the coroutine frames of this rank's algorithms.
/// * `state<State>()`: what an algorithm keeps between calls, one default-constructed `State` per type.
///
/// Operations are awaited, since each may have to wait: for a connection made at first use, for a free block,
/// for the peer. An await does not suspend if there is nothing to wait for. `now` is the call that the
/// algorithm was given: the same on all ranks, which never make different calls of the same number; it also
/// says whether this rank waits or parks. Each operation throws `error`: errc::mismatch (the peer is in
/// another call of this number), errc::peer_lost, errc::deadline. One thread at a time.
template <class Net>
concept mailbox_transport =
    requires(Net& net, const Net& seen, int peer, call_id now, std::span<const std::byte> payload) {
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

/// *Messages*: messages of any length between the memories of two ranks, as in MPI send and receive. Short
/// ones are copied through blocks; long ones are moved individually by the transport: nothing is agreed in
/// advance, and no registration is shared between messages.
///
/// * `post_send(to, now, bytes)`, `post_receive(from, now, into)`: start without waiting. The memory must not
///   be changed, or used, until the message is complete, and the returned object must live until then; if an
///   exception destroys it earlier, peers can no longer access this rank's memory, as with `expose`. Messages
///   from one rank to another are matched in posting order, including those of `send` and `receive`. A
///   message of at most `block_bytes()` may be sent one way and received the other. Zero bytes send nothing.
/// * `sent(to, now)`: all sources posted to that rank may be changed again. `received(from, now)`: all that
///   was posted from that rank has arrived. errc::mismatch if a message and its destination differ in length.
///
/// Posted messages progress while any operation waits. Algorithms post all messages of a step before they
/// wait for any, so that ranks in a cycle do not deadlock.
template <class Net>
concept message_transport =
    mailbox_transport<Net> &&
    requires(Net& net, int peer, call_id now, std::span<const std::byte> bytes, std::span<std::byte> into) {
      { net.post_send(peer, now, bytes) } -> std::movable;
      { net.post_receive(peer, now, into) } -> std::movable;
      { net.sent(peer, now) } -> awaitable;
      { net.received(peer, now) } -> awaitable;
    };

/// *Sharing*: a payload for several peers is prepared once.
///
/// * `for_several(bytes)`: that payload, of at most `block_bytes()`, for `send(to, now, payload)` to several
///   peers in the same call. `bytes` must not change during its lifetime. It must not be moved.
template <class Net>
concept sharing_transport =
    mailbox_transport<Net> && requires(Net& net, int peer, call_id now, std::span<const std::byte> bytes) {
      { net.send(peer, now, std::declval<decltype(net.for_several(bytes))&>()) } -> awaitable;
    };

/// *Answering*: a message of an algorithm may replace acknowledgements of released messages (P2 section
/// 4.2.4). Both sides must say so in each call, or the sender runs out of blocks.
///
/// * `will_answer(from)`: this rank has received and released everything that rank `from` has sent it, and
///   needs to send no acknowledgement, since the answer will tell rank `from`. Call it before receiving more
///   from there.
/// * `sent_to(to)`: total number of messages that this rank has sent to rank `to`, except those on other
///   paths, which need no acknowledgement.
/// * `answered_by(to, messages)`: something arrived that, as the algorithm knows, no rank could have sent
///   before rank `to` had released the first `messages`, a value of `sent_to`.
///
/// A wrong claim lets the sender overwrite blocks in use: errc::misuse at the receiver once it detects that.
template <class Net>
concept answering_transport =
    mailbox_transport<Net> && requires(Net& net, const Net& seen, int peer, std::uint64_t messages) {
      net.will_answer(peer);
      { seen.sent_to(peer) } -> std::same_as<std::uint64_t>;
      net.answered_by(peer, messages);
    };

/// Memory that a transport may access during the lifetime of this object. `region()`: what peers need to
/// know.
template <class Message>
concept registered_memory = std::movable<Message> && requires(const Message& memory) {
  { memory.region() } -> std::same_as<remote_region>;
};

/// *Memory*: zero-copy writes to and reads from user memory that peers expose, without involving their CPU.
///
/// * `zero_copy_bytes()`: the message size from which this pays off; the same on all ranks.
/// * `expose(memory)`: registers memory that peers may write and read, for the lifetime of the returned
///   object. `offer(memory)`: the same for memory that they may only read. `lend(memory)`: memory that is
///   only a local source. All return the same type; none accesses the memory by itself. If an exception of an
///   operator or of the algorithm destroys such an object, peers lose access to this rank's memory before
///   anything else is destroyed, and the call fails. A device may refuse memory: each throws an `error`.
///   Algorithms use `transfer::expose`, `offer` and `lend`, which then register a copy.
/// * `put(region, offset, source, from, now)`: starts writing `from`, which lies in the registered `source`
///   and must not change before `flush`. Data put to a rank arrives before any later message, signal or
///   notification to it, and only these announce it: a rank that polls the memory may see the parts of a put
///   in any order, and a later put before an earlier one, even at the same address.
/// * `flush(peer, now)`: completes when the sources of all puts to that rank may be reused; at once if there
///   were none. That rank need not take part: it may have completed the call and left.
/// * `get(region, offset, target, into, now)`: completes when the data has arrived; `into` lies in `target`,
///   which is exposed.
/// * `put_notified(...)`: as `put`; the target learns of each by one `notified(from, now)`, in order (P5
///   section 4.1: RDMA write with immediate).
///
/// A region may be part of an exposed one: same key and owner, different address and size. Sizes are in
/// bytes, from zero up to the region's; errc::invalid_argument beyond it.
template <class Net>
concept memory_transport =
    mailbox_transport<Net> &&
    requires(Net& net, const Net& seen, int peer, call_id now, remote_region region, std::size_t offset,
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

/// *One-sided*: algorithms move long messages by these operations and exchange the addresses themselves. In
/// transports with messages of any length, the memory operations serve windows only.
template <class Net>
concept one_sided_transport = memory_transport<Net> && !message_transport<Net>;

/// *Keeping*: registered memory of an algorithm that stays between calls.
///
/// * `keep(bytes)`: zeroed bytes that peers may write and read during the lifetime of the returned object,
///   which is moved into `state<State>()` and so lives as long as the transport, or until the algorithm drops
///   it. `memory()` returns the bytes, `exposure()` is their source for a put. Failed calls do not end it.
/// * Puts from there need no flush if the algorithm learns in another way that they have been placed before
///   it changes the source: for example, from a message of the rank that received them.
template <class Net>
concept keeping_transport = one_sided_transport<Net> && requires(Net& net, std::size_t bytes) {
  { net.keep(bytes) } -> registered_memory;
  { net.keep(bytes).memory() } -> std::same_as<std::span<std::byte>>;
  net.keep(bytes).exposure();
};

/// *Scratch*: provides memory in which algorithms store payloads during a call, instead of the heap. For
/// simulations that do not keep payloads; for other transports `scratch_of` returns heap memory.
///
/// * `scratch(bytes)`: an object with uninitialized `memory()` of that size during its lifetime. Only
///   payloads are stored there, on which no decision of an algorithm depends.
template <class Net>
concept scratch_transport = mailbox_transport<Net> && requires(Net& net, std::size_t bytes) {
  { net.scratch(bytes) } -> std::movable;
  { net.scratch(bytes).memory() } -> std::same_as<std::span<std::byte>>;
};

/// *Mapping*: memory that other ranks keep can be mapped into this process, if the ranks share a host and the
/// device supports it. All of them access it concurrently, through atomic words.
///
/// * `maps_memory()`: whether all ranks of the group may be able to map memory; the same on all of them.
///   `map` may still fail.
/// * `map(region, now)`: maps memory that another rank has kept, for the lifetime of the returned object,
///   whatever happens to that rank. `memory()` is empty if this rank cannot map it.
/// * `until(now, awaited, ready)`: completes when `ready()`, which inspects such memory, returns true.
///   `awaited()`: the rank that is expected to change it, queried occasionally while this rank waits; -1 for
///   none. Both are called within the await only.
/// * `differs(from, now, seen)`: call it if memory indicates that rank `from` is not in call `now` but in one
///   numbered `seen` (its lower 32 bits). Asks that rank. @throws error errc::mismatch if the calls differ;
///   returns if they are the same: then check the memory again.
template <class Net>
concept mapping_transport =
    keeping_transport<Net> && requires(Net& net, const Net& seen, int peer, call_id now, remote_region region,
                                       int (*awaited)(), bool (*ready)(), std::uint32_t number) {
      { seen.maps_memory() } -> std::same_as<bool>;
      { net.map(region, now) } -> awaitable;
      { net.map(region, now).await_resume().memory() } -> std::same_as<std::span<std::byte>>;
      { net.until(now, awaited, ready) } -> awaitable;
      net.differs(peer, now, number);
    };

/// *Reading*: one-sided, with reads executed by the device, so that they cost the same as writes.
template <class Net>
concept reading_transport = one_sided_transport<Net> && Net::reads_by_device;

/// *Tunable*: knows everything on which the choice among algorithms at run time depends (`automatic`, and
/// therefore every `standard` algorithm), all of it the same on all ranks.
///
/// * `name`: the transport's name in tuning tables and errors.
/// * `oversubscribed()`: whether ranks outnumber the cores on any host.
/// * `settings()`: the configuration; config::tuning, config::trials and config::explain are used.
/// * `is_on_adapter()`, if it has that: whether an adapter moves the bytes; selects the built-in table.
template <class Net>
concept tunable_transport = mailbox_transport<Net> && requires(const Net& seen) {
  { Net::name } -> std::convertible_to<const char*>;
  { seen.oversubscribed() } -> std::same_as<bool>;
  { seen.settings() } -> std::same_as<const config&>;
};

/// *Placed*: tunable, and knows which ranks share a host.
///
/// * `layout()`: the places of all ranks; the same on all of them, constant for the life of the transport.
/// * `maps_within_place()`, if it maps memory: whether the ranks of each place may map each other's memory;
///   the same on all ranks, also on those alone in their places. `map` may still fail.
/// * `expose`, `offer`, `lend`, `keep`, if there, also take a `peer_set`: the users of the memory.
template <class Net>
concept placed_transport = tunable_transport<Net> && requires(Net& net, const Net& seen) {
  { seen.layout() } -> std::same_as<const places&>;
  requires !mapping_transport<Net> || requires {
    { seen.maps_within_place() } -> std::same_as<bool>;
  };
  requires !memory_transport<Net> || requires { net.expose(std::span<std::byte>{}, peer_set::near); };
};

/// *Laned*: placed; `uses_lanes()`: whether some place has a device of its own, the same on all ranks.
template <class Net>
concept laned_transport = placed_transport<Net> && requires(const Net& seen) {
  { seen.uses_lanes() } -> std::same_as<bool>;
};

/// *Core-copying*: reading, and says whether cores or the device move the bytes.
///
/// * `copies_by_core()`: puts and gets are copies by the core of the initiating rank, as on a software
///   device: two ranks that each copy one half take half the time, and data that a rank has read is in its
///   cache. The same on all ranks.
template <class Net>
concept core_copying_transport =
    reading_transport<Net> && tunable_transport<Net> && requires(const Net& seen) {
      { seen.copies_by_core() } -> std::same_as<bool>;
    };

/// *Atomic*: operations on aligned 8-byte words of exposed memory, atomic with respect to each other; each
/// completes when the old value has arrived. `expose_alone(memory)`: as `expose`, but for exactly these
/// bytes, which are inaccessible once the returned object has been destroyed.
template <class Net>
concept atomic_transport =
    memory_transport<Net> && requires(Net& net, remote_region region, std::size_t offset, std::uint64_t value,
                                      call_id now, std::span<std::byte> memory) {
      { net.expose_alone(memory) } -> std::same_as<decltype(net.expose(memory))>;
      { net.fetch_add(region, offset, value, now) } -> awaitable;
      { net.compare_swap(region, offset, value, value, now) } -> awaitable;
    };

/// *Path choosing*: only some peers have connections, and an algorithm may request them.
///
/// * `wants_connection(peer)`: requests one, within the limit of the transport; whether and when it is made
///   affects only the cost. Ignored by transports that choose by themselves.
template <class Net>
concept path_choosing_transport =
    mailbox_transport<Net> && requires(Net& net, int peer) { net.wants_connection(peer); };

/// *Multicast*: one datagram to all ranks, made reliable; in addition to a mailbox.
///
/// * `join_multicast()`: this rank joins the group. Waiting or sending joins implicitly; a rank that joins
///   late has lost earlier messages and requests their retransmission.
/// * `multicast_signal(now)` / `multicast_signalled(root, now)`: the root tells all ranks that call `now` is
///   complete; one slot per root, overwritten by later calls; never acknowledged (P1 section 5.4).
/// * `multicast(now, bytes)` / `multicast_receive(root, now)`: messages of at most `multicast_bytes()` to all
///   other ranks, which must all receive them: in the sender's order, exactly once. `bytes` may be reused
///   once it completes, which is before they have arrived; it waits only while the slowest rank is a full
///   window behind.
template <class Net>
concept multicast_transport =
    mailbox_transport<Net> &&
    requires(Net& net, const Net& seen, int root, call_id now, std::span<const std::byte> payload) {
      net.join_multicast();
      { seen.multicast_bytes() } -> std::same_as<std::size_t>;
      { net.multicast_signal(now) } -> awaitable;
      { net.multicast_signalled(root, now) } -> awaitable;
      { net.multicast(now, payload) } -> awaitable;
      { net.multicast_receive(root, now) } -> awaitable;
      requires arrived_message<decltype(net.multicast_receive(root, now).await_resume())>;
    };

/// *Communicator*: a transport for the calls of a communicator.
///
/// * `core()`: its `endpoint` (transport/endpoint/), which has everything that does not depend on how
///   messages travel: call numbers, waits of blocking calls, parking of nonblocking ones, failures, names,
///   the device, and how the group was started.
/// * `plan(ranks, settings)`: what a rank needs to join a group of `ranks` ranks; static.
/// * `Net{joined}`: this rank's part, once the group has been joined with that plan. `Net{group, settings}`,
///   for any bootstrap::group, does both; collective.
/// * It may name a base shared with other transports as `seen_by_algorithms`: algorithms are compiled for
///   that base.
template <class Net>
concept communicator_transport =
    tunable_transport<Net> && std::constructible_from<Net, transport::joined_group> &&
    requires(Net& net, const Net& seen, int ranks, const config& settings) {
      { net.core() } -> std::same_as<transport::endpoint&>;
      { seen.core() } -> std::same_as<const transport::endpoint&>;
      { Net::plan(ranks, settings) } -> std::same_as<transport::joining_plan>;
    };

/// *Window*: a transport for windows.
///
/// * `atomics_by_device`: whether the device executes atomic operations. Then a rank's operations on its own
///   memory also go through the device, and writes by peers become visible without the transport's help.
/// * `one_sided_port()`: the device port whose keys name exposed memory, if they are device keys. Otherwise:
/// * `expect(from)`: called while memory is polled for a write of rank `from` (-1: any).
/// * `keeps_order(to)`: whether a rank that polls its memory sees puts to it in the order in which they were
///   started; if not, a window makes them visible before it notifies.
/// * `make_visible(peer, now)`: completes when all puts to that rank are visible there to every rank, and
///   their sources may be reused.
///
/// `lend(memory).beyond_calls()`: not tied to a call; an exception that destroys it does not fail a call.
template <class Net>
concept window_transport = communicator_transport<Net> && atomic_transport<Net> &&
                           requires(Net& net, int from, call_id now, std::span<const std::byte> source) {
                             { Net::atomics_by_device } -> std::convertible_to<bool>;
                             { net.keeps_order(from) } -> std::same_as<bool>;
                             { net.make_visible(from, now) } -> awaitable;
                             { net.lend(source).beyond_calls() } -> registered_memory;
                             requires(Net::atomics_by_device && requires { net.one_sided_port(); }) ||
                                         (!Net::atomics_by_device && requires { net.expect(from); });
                           };

/// *Registering*: memory operations need memory registered with the device, and registrations are cached.
/// `registrations()`: the cache. `forget(memory)`: drops the registrations of memory that is returned to the
/// device; precondition: the memory is not in use. `expose(memory).beyond_calls()`: as for windows.
template <class Net>
concept registering_transport = memory_transport<Net> && requires(Net& net, std::span<std::byte> memory) {
  { net.expose(memory).beyond_calls() } -> registered_memory;
  net.registrations();
  net.forget(memory);
};

/// True for transports whose standard algorithms are compiled into the library. Declared next to each
/// transport's definition, so that all programs agree.
template <class Net>
inline constexpr bool has_compiled_algorithms = false;

}  // namespace chorale
