// SPDX-License-Identifier: Apache-2.0
// One-sided access to memory of other ranks.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/calls/caller.hpp>
#include <chorale/calls/element_number.hpp>
#include <chorale/calls/parts.hpp>
#include <chorale/calls/window_card.hpp>
#include <chorale/calls/window_operand.hpp>
#include <chorale/calls/window_update.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/operators.hpp>
#include <chorale/core/origin.hpp>
#include <chorale/core/types.hpp>
#include <chorale/registered_array.hpp>
#include <chorale/transport/windows/remote_memory.hpp>

namespace chorale {

/// Memory that each rank of a communicator exposes, and that all its ranks read, write and update without the
/// owner's involvement, over a transport with one-sided and atomic operations (all but `transport::ud`).
///
///     chorale::window w{comm, std::span{cells}};  // or comm.make_window<double>(count), registered memory
///     w.put(right, 0, std::span<const double>{edge});
///     w.fence();
///
/// Constructing and destroying a window is collective, as is `fence`; other calls concern only the ranks
/// named. Offsets and counts are in elements of the target's memory; each rank may expose any number of them.
///
/// Order and completion. A put is pending until `flush(target)`, `flush_all` or `fence` has completed it at
/// the target; its source must not change before. Puts from one rank to one target become visible in order if
/// they are announced by `put_notify`: a target that has seen the notification sees all earlier puts. A get
/// is complete when it returns; it may overtake unflushed puts. Puts and gets of different ranks on the same
/// elements are unordered unless notifications, fences or messages order them. Accumulating operations are
/// atomic with respect to each other, element by element, on any rank including the owner; they are not
/// atomic with respect to puts, gets, the owner's direct accesses, or other windows on the same memory.
///
/// Atomicity: 8-byte integers on 8-byte boundaries use the device's atomic operations (also on this rank's
/// own memory, through a loopback connection). All other types, and unaligned memory, use a lock at the
/// target, which costs two atomic operations, a get and a put for each contiguous piece.
///
/// Progress: the target need not be in any call, since constructing a window connects all ranks of a group of
/// up to `connected_group` ranks. In larger groups, and where `config::connections` limits connections, it
/// has to be in some call, or in any wait of Chorale, when a rank first operates on it. Collective and
/// nonblocking calls of the communicator may be in progress; window calls from inside an operator are errors.
///
/// Errors: errc::invalid_argument, before anything is sent, if elements lie outside the target's memory, a
/// rank or id is out of range, or buffers overlap; errc::misuse, also before anything is sent, for a call
/// from inside an operator, concurrently with another thread's call, or after the communicator has ended. An
/// operator's exception leaves the element unchanged. Any other error poisons the communicator.
///
/// End of life: the destructor is collective, as `fence` is; peers can access the memory until then and not
/// after. During stack unwinding, and if that fence fails, the window ends on this rank alone: peers that
/// still use it get errors, and pending puts are awaited for 100 ms, after which the communicator is
/// poisoned. Once the destructor has returned, no device or peer reads the sources of its puts or accesses
/// its memory. Ending the communicator ends its windows. In a child of fork() the destructor does nothing.
///
/// Thread safety: as the communicator. Cost: 8 bytes per rank and notification id, one memory registration.
/// Source: P4 section 4.2 (completion flags), P5 section 4.1 (immediate data): RDMA write with notification.
template <element Element, class Communicator>
class window {
  using net_type = typename Communicator::transport_type;
  using caller_type = std::remove_reference_t<decltype(std::declval<const Communicator&>().on())>;
  using memory_type = transport::remote_memory<net_type>;
  using peer = calls::target_rank;

 public:
  /// Exposes `memory`, which must stay in place until the window ends. `notifications`: number of ids for
  /// put_notify, the same on all ranks. Collective. @throws error errc::mismatch if element types or
  /// `notifications` differ between ranks. If a rank cannot expose its memory, it throws that error, and all
  /// others one that names the rank. Neither poisons the communicator.
  window(Communicator& comm, calls::window_target<Element> memory, std::size_t notifications = 8)
      : window(exposing{}, comm.on(), notifications,
               [memory](caller_type&, registered_array<Element>&) { return memory.elements(); }) {}
  /// Exposes `count` zeroed elements of registered memory.
  template <std::integral Integer>
  window(Communicator& comm, Integer count, std::size_t notifications = 8)
      : window(exposing{}, comm.on(), notifications,
               [count](caller_type& on, registered_array<Element>& own) {
                 if (!std::in_range<std::size_t>(count))
                   throw error(errc::invalid_argument, std::to_string(count) + " elements cannot be");
                 own = detail::allocate_from<Element>(on.transport(), static_cast<std::size_t>(count));
                 return own.span();
               }) {}
  static constexpr int connected_group = 64;  ///< largest group whose windows connect all ranks
  window(const window&) = delete;
  window& operator=(const window&) = delete;
  ~window() {
    if (!memory_.is_here()) return;
    bool orderly = std::uncaught_exceptions() <= exceptions_;
    if (orderly) {
      try {
        memory_->flush_all();
        meet(window_stage::end);
      } catch (...) {
        // The communicator has failed, which its next call reports, or it has ended.
        memory_->note_unseen(std::current_exception());
        orderly = false;
      }
    }
    memory_->withdraw(orderly);
  }

  /// This rank's memory.
  [[nodiscard]] std::span<Element> local() const noexcept { return local_; }
  /// Number of elements that `rank` exposes.
  [[nodiscard]] std::size_t size(peer rank) const {
    check_rank("size", rank);
    return static_cast<std::size_t>(memory_->region(rank).bytes / sizeof(Element));
  }

  /// Writes the range `from` to elements [offset, offset + size of `from`) of `target`.
  void put(peer target, std::size_t offset, calls::window_source<Element, true> from) {
    const std::span<const Element> source = from.elements();
    check("put", target, offset, source);
    if (!source.empty()) memory_->put(target, offset * sizeof(Element), std::as_bytes(source));
  }
  /// Writes a copy of one element. All operations on one element reject values that Element cannot represent:
  /// an `int` for integer elements at run time, other numbers at compile time.
  template <calls::window_argument::value_of<Element> Value>
  void put(peer target, std::size_t offset, const Value& value) {
    check("put", target, offset, 1);
    const Element one = calls::as_element<Element>("window: put", value);
    memory_->put_copy(target, offset * sizeof(Element), std::as_bytes(std::span{std::addressof(one), 1}));
  }
  /// Reads elements [offset, offset + size of `into`) of `target` into a range, or one into a variable.
  template <class Range>
  void get(peer target, std::size_t offset, Range&& into) {
    if constexpr (std::same_as<Range, Element&>)
      get_into(target, offset, {std::addressof(into), 1});
    else
      get_into(target, offset, calls::window_target<Element>{std::forward<Range>(into)}.elements());
  }
  /// Returns the element at `offset`.
  [[nodiscard]] Element get(peer target, std::size_t offset) {
    check("get", target, offset, 1);
    alignas(Element) std::byte room[sizeof(Element)];
    auto* const one = reinterpret_cast<Element*>(room);
    get_into(target, offset, {one, 1});
    return *std::launder(one);
  }
  /// Returns `count` elements, beginning at `offset`.
  [[nodiscard]] std::vector<Element> get_n(peer target, std::size_t offset, std::size_t count) {
    check("get_n", target, offset, count);
    auto all = calls::made_room<Element>(count);
    if constexpr (!std::same_as<Element, bool>) get_into(target, offset, all);
    return all;
  }
  /// Returns once all puts of this rank to `target` are complete there; their sources may be reused.
  void flush(peer target) {
    check_rank("flush", target);
    memory_->flush(target);
  }
  void flush_all() { memory_->flush_all(); }  ///< `flush` for every rank.
  /// Collective: completes all puts of all ranks and makes them visible to every rank.
  void fence() {
    memory_->flush_all();
    meet(window_stage::fence);
  }

  /// A put that then increments this rank's notification `id` at the target, once all earlier puts have
  /// arrived there. With zero elements it only notifies.
  void put_notify(peer target, std::size_t offset, calls::window_source<Element, true> from, std::size_t id) {
    check_id("put_notify", id);
    put(target, offset, from);
    memory_->notify(target, id);
  }
  /// The same for one element, which is copied.
  template <calls::window_argument::value_of<Element> Value>
  void put_notify(peer target, std::size_t offset, const Value& value, std::size_t id) {
    check_id("put_notify", id);
    put(target, offset, value);
    memory_->notify(target, id);
  }
  /// Waits for `count` notifications `id` from `origin` and consumes them.
  void wait_notified(peer origin, std::size_t id, std::uint64_t count = 1) {
    check_rank("wait_notified", origin);
    wait_for(origin, id, count);
  }
  /// The same for notifications from all ranks together.
  void wait_notified(any_rank_t, std::size_t id, std::uint64_t count = 1) { wait_for(all_ranks, id, count); }
  /// Number of notifications that have arrived and were not consumed. Gives way, as `request::test`, if none.
  [[nodiscard]] std::uint64_t notified(peer origin, std::size_t id) {
    check_rank("notified", origin);
    return count_notified(origin, id);
  }
  /// The same for notifications from all ranks together.
  [[nodiscard]] std::uint64_t notified(any_rank_t, std::size_t id) { return count_notified(all_ranks, id); }

  /// target[offset + i] = op(target[offset + i], from[i]), atomically for each i.
  template <class Op>
  void accumulate(peer target, std::size_t offset, calls::window_source<Element, false> from, Op op) {
    check("accumulate", target, offset, from.elements());
    updating(target, offset).combine(from.elements(), {}, op);
  }
  /// The same for one element.
  template <calls::window_argument::value_of<Element> Value, class Op>
  void accumulate(peer target, std::size_t offset, const Value& value, Op op) {
    check("accumulate", target, offset, 1);
    const Element one = calls::as_element<Element>("window: accumulate", value);
    updating(target, offset).combine({std::addressof(one), 1}, {}, op);
  }
  /// The same; into[i] receives the old value. `into` has as many elements as `from` and does not overlap it.
  template <class Op>
  void get_accumulate(peer target, std::size_t offset, calls::window_source<Element, false> combined,
                      calls::window_target<Element> old, Op op) {
    const std::span<const Element> from = combined.elements();
    const std::span<Element> into = old.elements();
    check("get_accumulate", target, offset, from);
    check_memory("get_accumulate", into);
    if (into.size() != from.size())
      reject("get_accumulate", std::to_string(into.size()) + " elements are to take the old values of " +
                                   std::to_string(from.size()));
    const auto begin = reinterpret_cast<std::uintptr_t>(from.data());
    const auto other = reinterpret_cast<std::uintptr_t>(into.data());
    if (!from.empty() && begin < other + into.size_bytes() && other < begin + from.size_bytes())
      reject("get_accumulate", "the elements to combine and those for the old values overlap");
    updating(target, offset).combine(from, into, op);
  }
  /// The same for one element, whose old value it returns. With `chorale::replace`: an atomic exchange.
  template <calls::window_argument::value_of<Element> Value, class Op>
  Element fetch_and_op(peer target, std::size_t offset, const Value& value, Op op) {
    check("fetch_and_op", target, offset, 1);
    const Element one = calls::as_element<Element>("window: fetch_and_op", value);
    Element old = one;
    updating(target, offset).combine({std::addressof(one), 1}, {std::addressof(old), 1}, op);
    return old;
  }
  /// Sets the element to `desired` if its bytes equal those of `expected`; returns the old value. For
  /// integers, `float`, `double`, and types whose equal values always have equal bytes (no padding).
  template <calls::window_argument::value_of<Element> Expected = Element,
            calls::window_argument::value_of<Element> Desired = Element>
  Element compare_and_swap(peer target, std::size_t offset, const Expected& expected,
                           const Desired& desired) {
    check("compare_and_swap", target, offset, 1);
    return updating(target, offset)
        .compare_and_swap(calls::as_element<Element>("window: compare_and_swap", expected),
                          calls::as_element<Element>("window: compare_and_swap", desired));
  }

 private:
  struct exposing {};
  /// `expose(on, own)` returns the memory to expose, which may be that of `own`.
  template <class ExposeMemory>
  window(exposing, caller_type& on, std::size_t notifications, const ExposeMemory& expose)
      : on_(&on), exceptions_(std::uncaught_exceptions()), notifications_(notifications) {
    calls::window_card mine{.notifications = notifications, .type = chorale::type_tag<Element>()};
    std::exception_ptr failure;
    // A window that is refused must not have a number, which the other ranks would not count.
    static_cast<void>(transport::occupancy::entry{on.transport().core().use(), operation::window});
    on.transport().core().failures().require_sound();
    try {
      local_ = expose(on, own_);
      memory_.emplace(on.transport(), std::as_writable_bytes(local_), notifications);
      mine.memory = memory_->card();
    } catch (...) {
      failure = calls::note_failure(mine, on.rank());
    }
    std::vector<calls::window_card> all = calls::or_fail(on.transport(), [&] {
      number_ = ++on.transport().template state<calls::windows_made>().number;
      return std::vector<calls::window_card>(static_cast<std::size_t>(on.size()));
    });
    try {
      gather(mine, all);
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
    if (failure) std::rethrow_exception(failure);
    calls::or_fail(on.transport(), [&] { memory_->open(calls::memories_of(all, mine, sizeof(Element))); });
  }
  void gather(const calls::window_card& mine, std::vector<calls::window_card>& all) {
    all[static_cast<std::size_t>(on_->rank())] = mine;
    if (on_->size() <= connected_group)
      return gather_by<operation_traits<operation::allgather>::connecting>(all);
    gather_by<calls::algorithm_of<operation::allgather, caller_type>>(all);
  }
  template <class Algorithm>
  void gather_by(std::vector<calls::window_card>& all) {
    collective(window_stage::make, [&](call_id now) {
      return calls::launch<operation::allgather, Algorithm>(
          on_->net(), now,
          blocks<std::byte>{std::as_writable_bytes(std::span{all}),
                            block_layout::even(on_->size(), sizeof(calls::window_card))});
    });
  }
  /// A collective barrier; ranks at different stages, or in different windows, get errc::mismatch.
  void meet(window_stage where) {
    memory_->require_open("fence");
    collective(where, [&](call_id now) {
      return calls::launch<operation::barrier, calls::algorithm_of<operation::barrier, caller_type>>(
          on_->net(), now);
    });
  }
  template <class Start>
  void collective(window_stage where, Start&& start) {
    on_->run(calls::prepared{call{.what = operation::window, .bytes = window_call(number_, where)},
                             std::forward<Start>(start)});
  }
  void get_into(int target, std::size_t offset, std::span<Element> into) {
    check("get", target, offset, into);
    if (!into.empty()) memory_->get(target, offset * sizeof(Element), std::as_writable_bytes(into));
  }
  static constexpr int all_ranks = -1;  ///< an `origin`, as `transport::remote_memory` takes it
  void wait_for(int origin, std::size_t id, std::uint64_t count) {
    check_id("wait_notified", id);
    memory_->wait(origin, [&] { return arrived(origin, id) >= count; });
    const int first = origin == all_ranks ? 0 : origin;
    const int last = origin == all_ranks ? memory_->size() - 1 : origin;
    for (int r = first; r <= last && count > 0; ++r) {
      const std::uint64_t part = std::min(count, memory_->notified(r, id));
      memory_->take(r, id, part);
      count -= part;
    }
  }
  [[nodiscard]] std::uint64_t count_notified(int origin, std::size_t id) {
    check_id("notified", id);
    memory_->progress_all();
    return memory_->found(arrived(origin, id));
  }
  [[nodiscard]] std::uint64_t arrived(int origin, std::size_t id) const noexcept {
    if (origin != all_ranks) return memory_->notified(origin, id);
    std::uint64_t all = 0;
    for (int r = 0; r < memory_->size(); ++r) all += memory_->notified(r, id);
    return all;
  }
  [[nodiscard]] auto updating(int target, std::size_t offset) {
    return calls::window_update<Element, memory_type>{*memory_, target, offset * sizeof(Element)};
  }
  void check_rank(const char* what, int rank) const {
    if (rank < 0 || rank >= memory_->size())
      reject(what, "rank " + std::to_string(rank) + " is not in 0.." + std::to_string(memory_->size() - 1));
  }
  void check_id(const char* what, std::size_t id) const {
    if (id >= notifications_)
      reject(what, "notification " + std::to_string(id) + ": the window was made for " +
                       std::to_string(notifications_));
  }
  void check(const char* what, int target, std::size_t offset, std::size_t count) const {
    check_rank(what, target);
    const std::size_t room = size(target);
    if (offset > room || count > room - offset)
      reject(what, std::to_string(count) + " elements at " + std::to_string(offset) + " leave the " +
                       std::to_string(room) + " that rank " + std::to_string(target) + " exposes");
  }
  void check(const char* what, int target, std::size_t offset, std::span<const Element> local) const {
    check(what, target, offset, local.size());
    check_memory(what, local);
  }
  void check_memory(const char* what, std::span<const Element> local) const {
    if (local.data() == nullptr && !local.empty())
      reject(what, "the buffer of " + std::to_string(local.size()) + " elements is a null pointer");
  }
  [[noreturn]] void reject(const char* what, const std::string& why) const {
    throw error(errc::invalid_argument,
                std::string{"window: "} + what + " on rank " + std::to_string(memory_->rank()) + ": " + why);
  }

  caller_type* on_;
  int exceptions_;
  registered_array<Element> own_;
  std::span<Element> local_;
  std::size_t notifications_;
  std::uint64_t number_ = 0;  ///< counts the windows of the communicator
  detail::process_bound<memory_type> memory_;
};

/// Transports without one-sided and atomic operations have no window; the compiler says so in one error.
template <element Element, class Communicator>
requires(!window_transport<typename Communicator::transport_type>)  //
class window<Element, Communicator> {
  static_assert(
      sizeof(Element) == 0,
      "chorale::window: this transport has no one-sided and atomic operations: take another, such as "
      "transport::rc, or transport::ud_rdma for datagrams");

 public:
  template <class... Arguments>
  explicit window(Communicator&, Arguments&&...) {}  ///< Never instantiated.
};

template <class Communicator, class Range>
window(Communicator&, Range&&, std::size_t = 8)
    -> window<typename calls::window_argument::exposed<Range>::element, Communicator>;

}  // namespace chorale
