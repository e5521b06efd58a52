// SPDX-License-Identifier: Apache-2.0
// A transport assembled from its parts, as algorithms, calls and users see it.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <chorale/core/origin.hpp>
#include <chorale/transport/concepts.hpp>
#include <chorale/transport/endpoint/endpoint.hpp>
#include <chorale/transport/endpoint/multicast_group.hpp>
#include <chorale/transport/endpoint/posting.hpp>
#include <chorale/transport/endpoint/waiting.hpp>
#include <chorale/transport/joining/joining.hpp>
#include <chorale/transport/memory/kept_memory.hpp>
#include <chorale/transport/memory/memory_report.hpp>
#include <chorale/transport/memory/registration_cache.hpp>
#include <chorale/transport/wire/arrival.hpp>

namespace chorale::transport {

/// Makes a transport from `Parts`, which have a `name`, an endpoint (`core()`), a mailbox (`mailbox()`) and,
/// for one-sided operations, `one_sided()`. Its operations are awaitables that retry the nonblocking attempts
/// of the parts: `try_...`, or a function object called until it returns true. One thread at a time.
///
/// * A mailbox has `block_bytes()`, `try_signal(to, now)`, `try_signalled(from, now)`, `try_send(to, now,
///   bytes)`, `try_receive(from, now, message)`, which sets `message` to the bytes that have arrived,
///   `sender_of(from)`, and `release(sender)`, noexcept, which returns the oldest message of that sender that
///   was handed out. It may have a `shared_payload`, constructed from bytes, which `try_send` accepts in
///   place of bytes, and the members of `answering_transport`, noexcept.
/// * It may have messages of any length: `post_send`, `post_receive`, `try_sent`, `try_received`, `is_over`.
/// * The one-sided part has the operations of `rma_queue`; `write`, `read`, `add`, `swap` return function
///   objects. Parts `describe` their memory and connections.
template <class Parts>
class assembled {
  using mailbox_type = std::remove_reference_t<decltype(std::declval<Parts&>().mailbox())>;
  using sender_type = decltype(std::declval<mailbox_type&>().sender_of(0));
  static constexpr bool has_one_sided = requires(Parts& p) { p.one_sided(); };
  static constexpr bool has_lanes = requires { requires Parts::has_lanes; };
  static constexpr bool maps = requires(Parts& p, remote_region there) { p.one_sided().map(there); };
  static constexpr bool has_messages = requires(mailbox_type& m, call_id now) { m.try_received(0, now); };

 public:
  static constexpr const char* name = Parts::name;

  /// Collective over `group`. @throws error if there is no usable device or the ranks do not match.
  template <bootstrap::group Group>
  assembled(Group& group, const config& c)
      : assembled(transport::join(endpoint::view_of(group, c), plan(endpoint::ranks(group), c))) {}
  /// From a group that was joined with this transport's plan; `more` are further arguments for the parts.
  template <class... More>
  explicit assembled(joined_group&& group, const More&... more)
      : parts_(std::in_place, std::move(group), more...),
        zero_copy_bytes_(settings().zero_copy_from(measured_zero_copy())) {}
  [[nodiscard]] static joining_plan plan(int ranks, const config& settings) {
    return Parts::plan(ranks, settings);
  }
  assembled(const assembled&) = delete;
  assembled& operator=(const assembled&) = delete;
  /// Windows and arrays that still exist detach from it first. In a child of fork() it does nothing.
  ~assembled() { core().dependent_objects().end(); }

  // The group.
  [[nodiscard]] int rank() const noexcept { return core().rank(); }
  [[nodiscard]] int size() const noexcept { return core().size(); }
  [[nodiscard]] const config& settings() const noexcept { return core().settings(); }
  /// How the group was started.
  [[nodiscard]] const std::string& launched() const noexcept { return core().launched(); }
  /// Maximum number of messages of one sender that a receiver holds before it releases one.
  [[nodiscard]] std::size_t blocks() const noexcept { return core().settings().least_blocks(); }
  [[nodiscard]] bool oversubscribed() const noexcept { return core().oversubscribed(); }
  /// Which ranks share a host.
  [[nodiscard]] const places& layout() const noexcept { return core().layout(); }
  /// Whether ranks of some place reach each other through a device of their own. The same on all ranks.
  [[nodiscard]] bool uses_lanes() const noexcept requires has_lanes { return core().uses_lanes(); }
  /// True if the device moves the bytes; over soft0 the ranks' cores do. The same on all ranks.
  [[nodiscard]] bool is_on_adapter() const noexcept { return !core().port().device().copies_by_core(); }

  // The device.
  /// The chosen device and port, and the reason for the choice.
  [[nodiscard]] const verbs::device_choice& chosen() const noexcept { return core().port().chosen(); }
  /// The opened device.
  [[nodiscard]] const verbs::device& device() const noexcept { return core().port().device(); }
  /// The protection domain of its memory.
  [[nodiscard]] const verbs::protection_domain& domain() const noexcept { return core().port().domain(); }
  /// The device, with the resources that communicators of a process share.
  [[nodiscard]] const std::shared_ptr<const opened_device>& opened() const noexcept {
    return core().port().opened();
  }

  // Costs and statistics.
  /// Number of open connections to peers.
  [[nodiscard]] int connections() const { return memory().connections; }
  [[nodiscard]] memory_report memory() const {
    memory_report m;
    parts_->describe(m);
    m.datagram_bytes = core().datagram_bytes();
    m.algorithm_bytes = core().store().kept_bytes();
    return m;
  }
  /// Registered bytes of the transport itself: mailboxes, staging, receive and datagram buffers, and memory
  /// kept by algorithms.
  [[nodiscard]] std::size_t registered_bytes() const {
    return parts_->registered_bytes() + core().datagram_bytes() + core().store().kept_bytes();
  }
  /// Datagrams sent, lost and retransmitted; for transports with datagram streams.
  [[nodiscard]] auto statistics() const requires requires(const Parts& p) { p.packets(); } {
    return parts_->packets().statistics();
  }
  [[nodiscard]] auto registrations() const requires requires(const Parts& p) { p.registrations(); } {
    return parts_->registrations().statistics();
  }
  /// How long registrations of user memory are kept here (`config::registration`).
  [[nodiscard]] auto registration_kept() const requires requires(const Parts& p) { p.registrations(); } {
    return parts_->registrations().guarantee();
  }
  /// Malformed datagrams, which were discarded.
  [[nodiscard]] std::uint64_t refused_datagrams() const noexcept { return core().channel().refused(); }
  /// For statistics specific to this transport.
  [[nodiscard]] const Parts& parts() const noexcept { return *parts_; }

  // Calls.
  [[nodiscard]] endpoint& core() noexcept { return parts_->core(); }
  [[nodiscard]] const endpoint& core() const noexcept { return parts_->core(); }
  [[nodiscard]] frame_arena& frames() noexcept { return core().store().frames(); }
  call_id begin(const call& c) { return core().begin(c); }
  void complete(call_id now) noexcept { core().calls().complete(now); }
  [[nodiscard]] call_id current() const noexcept { return core().calls().current(); }
  void fail(const std::exception_ptr& why) noexcept { core().failures().fail(why); }
  void withdraw_after(std::exception_ptr why) noexcept { core().failures().withdraw_after(std::move(why)); }
  void require_whole() const { core().failures().require_whole(); }
  /// The record of its calls, used by errors and observers.
  [[nodiscard]] call_record& calls() noexcept { return core().calls(); }
  [[nodiscard]] bool is_poisoned() const noexcept { return core().failures().is_poisoned(); }
  void progress() { core().engine().poll(); }
  void progress_all() { core().engine().progress_all(); }
  template <class State>
  [[nodiscard]] State& state() {
    return core().store().template state<State>();
  }

  // Waiting.
  template <class Peer, class Ready>
  void wait(Peer&& peer, call_id now, Ready&& ready) {
    core().engine().wait(std::forward<Peer>(peer), now, std::forward<Ready>(ready));
  }
  void park(std::coroutine_handle<> frame, int peer, call_id now, bool (*ready)(void*), void* awaiter,
            int (*awaited)(void*) = nullptr) {
    core().engine().park(frame, peer, now, ready, awaiter, awaited);
  }
  void rethrow_parked_failure() { core().engine().rethrow_parked_failure(); }

  // Mailbox.
  /// A message in a block of the receiver.
  using arrival = transport::arrival<mailbox_type, sender_type>;

  /// Largest payload of one message in bytes.
  [[nodiscard]] std::size_t block_bytes() const noexcept { return parts_->mailbox().block_bytes(); }
  [[nodiscard]] auto signal(int to, call_id now) {
    return waiting{*this, to, now, [](assembled& net, int peer, call_id call) {
                     return net.mailbox().try_signal(peer, call);
                   }};
  }
  [[nodiscard]] auto signalled(int from, call_id now) {
    return waiting{*this, from, now, [](assembled& net, int peer, call_id call) {
                     return net.mailbox().try_signalled(peer, call);
                   }};
  }
  [[nodiscard]] auto send(int to, call_id now, std::span<const std::byte> bytes) {
    return waiting{*this, to, now, [bytes](assembled& net, int peer, call_id call) {
                     return net.mailbox().try_send(peer, call, bytes);
                   }};
  }
  /// For mailboxes that stage a payload once for several peers.
  template <class Mailbox = mailbox_type>
  [[nodiscard]] typename Mailbox::shared_payload for_several(std::span<const std::byte> bytes) {
    return typename Mailbox::shared_payload{bytes};
  }
  template <class Mailbox = mailbox_type>
  [[nodiscard]] auto send(int to, call_id now, typename Mailbox::shared_payload& payload) {
    return waiting{*this, to, now, [&payload](assembled& net, int peer, call_id call) {
                     return net.mailbox().try_send(peer, call, payload);
                   }};
  }
  void will_answer(int from) noexcept requires requires(mailbox_type& m) { m.will_answer(0); } {
    mailbox().will_answer(from);
  }
  [[nodiscard]] std::uint64_t sent_to(int to) const noexcept
      requires requires(mailbox_type& m) { m.will_answer(0); } {
    return parts_->mailbox().sent_to(to);
  }
  void answered_by(int to, std::uint64_t messages) noexcept
      requires requires(mailbox_type& m) { m.will_answer(0); } {
    mailbox().answered_by(to, messages);
  }
  [[nodiscard]] auto receive(int from, call_id now) {
    struct look {
      std::span<const std::byte> message{};
      bool operator()(assembled& net, int peer, call_id call) {
        return net.mailbox().try_receive(peer, call, message);
      }
      arrival result(assembled& net, int peer) {
        return {net.mailbox(), net.mailbox().sender_of(peer), message};
      }
    };
    return waiting{*this, from, now, look{}};
  }
  void wants_connection(int peer) requires requires(mailbox_type& m) { m.wants_connection(0); } {
    mailbox().wants_connection(peer);
  }

  // Messages of any length.
  [[nodiscard]] auto post_send(int to, call_id now, std::span<const std::byte> bytes) requires has_messages {
    return posting{*this, mailbox().post_send(to, now, bytes)};
  }
  [[nodiscard]] auto post_receive(int from, call_id now, std::span<std::byte> into) requires has_messages {
    return posting{*this, mailbox().post_receive(from, now, into)};
  }
  [[nodiscard]] auto sent(int to, call_id now) requires has_messages {
    return waiting{*this, to, now,
                   [](auto& n, int peer, auto call) { return n.mailbox().try_sent(peer, call); }};
  }
  [[nodiscard]] auto received(int from, call_id now) requires has_messages {
    return waiting{*this, from, now,
                   [](auto& n, int peer, auto call) { return n.mailbox().try_received(peer, call); }};
  }
  [[nodiscard]] bool is_over(const posted_message& message) const noexcept requires has_messages {
    return parts_->mailbox().is_over(message);
  }
  void give_up(const posted_message& message) noexcept requires has_messages {
    transport::give_up(core(), message);
  }

  // One-sided operations.
  static constexpr bool atomics_by_device =
      requires(Parts& p) { requires std::remove_reference_t<decltype(p.one_sided())>::atomics_by_device; };
  static constexpr bool reads_by_device =
      requires(Parts& p) { requires std::remove_reference_t<decltype(p.one_sided())>::reads_by_device; };
  /// The device port used by these operations, if the device executes them.
  [[nodiscard]] const device_port& one_sided_port() noexcept requires atomics_by_device {
    return parts_->one_sided().port();
  }
  [[nodiscard]] std::size_t zero_copy_bytes() const noexcept requires has_one_sided {
    return zero_copy_bytes_;
  }
  [[nodiscard]] bool copies_by_core() const noexcept requires reads_by_device {
    return parts_->one_sided().copies_by_core();
  }
  [[nodiscard]] auto expose(std::span<std::byte> memory, peer_set peers = {}) requires has_one_sided {
    return guarded(parts_->one_sided().expose(memory, peers));
  }
  [[nodiscard]] auto expose_alone(std::span<std::byte> memory) requires has_one_sided {
    return parts_->one_sided().expose_alone(memory);
  }
  [[nodiscard]] auto offer(std::span<const std::byte> memory, peer_set peers = {}) requires has_one_sided {
    return guarded(parts_->one_sided().offer(memory, peers));
  }
  [[nodiscard]] auto lend(std::span<const std::byte> memory, peer_set peers = {}) requires has_one_sided {
    return guarded(parts_->one_sided().lend(memory, peers));
  }
  /// Memory for an algorithm to keep in `state<State>()`.
  [[nodiscard]] auto keep(std::size_t bytes, peer_set peers = {}) requires has_one_sided {
    const auto expose = [&](auto all) { return parts_->one_sided().expose_alone(all, peers); };
    return kept_memory<decltype(expose(std::span<std::byte>{}))>{core().memory_domain(peers), bytes,
                                                                 core().store().kept_bytes(), expose};
  }
  void forget(std::span<const std::byte> memory) noexcept requires has_one_sided {
    parts_->one_sided().forget(memory);
  }
  void expect(int from) requires has_one_sided { parts_->one_sided().expect(from); }
  [[nodiscard]] bool keeps_order(int to) noexcept requires has_one_sided {
    return parts_->one_sided().keeps_order(to);
  }
  template <class Exposure>
  [[nodiscard]] auto put(remote_region target, std::size_t offset, const Exposure& local,
                         std::span<const std::byte> from, call_id now) requires has_one_sided {
    return waiting{*this, target.owner, now,
                   parts_->one_sided().write(target, offset, local, from, now, false)};
  }
  template <class Exposure>
  [[nodiscard]] auto put_notified(remote_region target, std::size_t offset, const Exposure& local,
                                  std::span<const std::byte> from, call_id now) requires has_one_sided {
    return waiting{*this, target.owner, now,
                   parts_->one_sided().write(target, offset, local, from, now, true)};
  }
  template <class Exposure>
  [[nodiscard]] auto get(remote_region source, std::size_t offset, const Exposure& local,
                         std::span<std::byte> into, call_id now) requires has_one_sided {
    return waiting{*this, source.owner, now, parts_->one_sided().read(source, offset, local, into, now)};
  }
  [[nodiscard]] auto flush(int peer, call_id now) requires has_one_sided {
    return waiting{*this, peer, now,
                   [](auto& n, int to, auto) { return n.parts_->one_sided().try_flush(to); }};
  }
  [[nodiscard]] auto make_visible(int peer, call_id now) requires has_one_sided {
    return waiting{*this, peer, now,
                   [](auto& n, int to, auto) { return n.parts_->one_sided().try_make_visible(to); }};
  }
  [[nodiscard]] auto notified(int peer, call_id now) requires has_one_sided {
    return waiting{*this, peer, now,
                   [](auto& n, int by, auto call) { return n.parts_->one_sided().try_notified(by, call); }};
  }
  [[nodiscard]] auto fetch_add(remote_region target, std::size_t offset, std::uint64_t value, call_id now)
      requires has_one_sided {
    return waiting{*this, target.owner, now, parts_->one_sided().add(target, offset, value)};
  }
  [[nodiscard]] auto compare_swap(remote_region target, std::size_t offset, std::uint64_t expected,
                                  std::uint64_t wanted, call_id now) requires has_one_sided {
    return waiting{*this, target.owner, now, parts_->one_sided().swap(target, offset, expected, wanted)};
  }

  // Memory of peers mapped into this process.
  [[nodiscard]] bool maps_memory() const noexcept requires maps { return core().maps_memory(); }
  [[nodiscard]] bool maps_within_place() const noexcept requires maps { return core().maps_within_place(); }
  [[nodiscard]] auto map(remote_region there, call_id now) requires maps {
    return waiting{*this, there.owner, now, parts_->one_sided().map(there)};
  }
  template <class Awaited, class Ready>
  [[nodiscard]] auto until(call_id now, Awaited awaited, Ready ready) requires maps {
    return waiting{*this, -1, now, polls_for_some{std::move(ready), std::move(awaited)}};
  }
  void differs(int from, call_id now, std::uint32_t seen) requires maps {
    core().inquiry().mismatch(from, now, seen);
  }

  // Multicast. Ranks join at first use. @throws error errc::unsupported, with the remedy, if they cannot.
  /// Whether the device supports it.
  [[nodiscard]] bool has_multicast() const { return core().multicast().are_possible(); }
  void join_multicast() { core().multicast().join(); }
  /// The multicast group of this communicator, created at first use. Precondition: more than one rank.
  [[nodiscard]] multicast_group& multicasts() { return core().multicast().group(); }
  /// Multicasts sent, lost and retransmitted.
  [[nodiscard]] transport::multicast_statistics multicast_statistics() const {
    return core().multicast().statistics();
  }
  /// Largest payload in bytes of one multicast message: what fits into a datagram of the path MTU.
  [[nodiscard]] std::size_t multicast_bytes() const noexcept { return core().multicast().payload_bytes(); }
  [[nodiscard]] auto multicast_signal(call_id now) {
    return waiting{*this, (rank() + 1) % size(), now, [](assembled& net, int, call_id call) {
                     return net.size() == 1 || net.multicasts().try_signal(call);
                   }};
  }
  [[nodiscard]] auto multicast_signalled(int root, call_id now) {
    return waiting{*this, root, now,
                   [](auto& n, int from, auto call) { return n.multicasts().try_signalled(from, call); }};
  }
  [[nodiscard]] auto multicast(call_id now, std::span<const std::byte> bytes) {
    // Another rank may become the slowest while this one waits.
    return waiting{*this, -1, now,
                   polls_for_some{[=, this] { return size() == 1 || multicasts().try_send(now, bytes); },
                                  [this] { return multicasts().slowest(); }}};
  }
  [[nodiscard]] auto multicast_receive(int root, call_id now) {
    struct look {
      std::span<const std::byte> message{};
      bool operator()(assembled& net, int from, call_id call) {
        return net.multicasts().try_receive(from, call, message);
      }
      multicast_group::arrival result(assembled& net, int from) { return {net.multicasts(), from, message}; }
    };
    return waiting{*this, root, now, look{}};
  }

 private:
  [[nodiscard]] mailbox_type& mailbox() noexcept { return parts_->mailbox(); }
  /// Adds a guard if destroying `memory` does not by itself stop accesses by peers.
  template <class Memory>
  [[nodiscard]] Memory guarded(Memory memory) noexcept {
    if constexpr (requires { memory.guarded_by(withdrawal_guard{core().engine()}); })
      memory.guarded_by(withdrawal_guard{core().engine()});
    return memory;
  }

  /// Size in bytes from which zero copy is faster, if cores copy and each rank has its own; otherwise 0.
  [[nodiscard]] std::size_t measured_zero_copy() const noexcept {
    if constexpr (reads_by_device)
      if (!copies_by_core() || !oversubscribed()) return core().zero_copy_from();
    return 0;
  }

  detail::process_bound<Parts> parts_;
  std::size_t zero_copy_bytes_;
};

}  // namespace chorale::transport
