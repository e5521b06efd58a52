// One-sided access to memory of other ranks.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/core/error.hpp>
#include <chorale/core/operators.hpp>
#include <chorale/core/types.hpp>
#include <chorale/device_array.hpp>
#include <chorale/transport/remote_memory.hpp>

namespace chorale {

/// From any rank, where an origin is asked for.
inline constexpr int any_rank = -1;

/// b: what `window::fetch_and_op` then does is an atomic exchange.
struct replace_t {
  template <class T>
  constexpr T operator()(const T&, const T& b) const noexcept {
    return b;
  }
};
inline constexpr replace_t replace{};

/// Memory of each rank of a communicator that all its ranks write, read and update without the owner's doing,
/// over a transport with one-sided and atomic operations (`transport::rc`).
///
///     chorale::window w{comm, std::span{cells}};             // or: w{comm, count}, memory from the device
///     w.put(right, 0, std::span<const double>{edge});
///     w.fence();
///
/// Making and ending a window is collective; `fence` too; all else concerns the ranks that it names. Offsets
/// and counts are in elements of the target's memory; each rank may have another number of them, also none.
///
/// Order and completion. A put is under way until `flush(target)`, `flush_all` or `fence`; then it is at the
/// target, and only then may its source change. Puts of one rank to one target arrive in their order if they
/// are told of by `put_notify`: who has seen the notification has all that was put before it. A get is over
/// when it returns; it may overtake puts that were not flushed. Puts and gets of different ranks on the same
/// elements are in no order, unless notifications, fences or messages put them in one. Accumulating
/// operations are atomic to each other, element by element, whichever rank makes them, the owner too; not to
/// puts, gets or what the owner does to its memory directly.
///
/// Atomicity: for integers of 8 bytes on 8-byte boundaries by the device's atomic operations (a rank's on its
/// own memory too, by a connection with itself); for all other types, and where memory is not aligned, under
/// a lock of the target, which costs two atomic operations, a get and a put for each stretch.
///
/// Progress: a target has to be in some call of its communicator, or wait for anything in Chorale, only when
/// a rank operates on it for the first time, since that makes the connection; then it need not, unless
/// `config::connections` limits them. Collective and nonblocking calls of the communicator may go on
/// meanwhile. Errors: errc::invalid_argument, before anything is sent, if elements are outside of the
/// target's memory or a rank or id out of range. Anything else poisons the communicator. Thread safety: that
/// of the communicator, which must outlive the window. Cost: 8 bytes a rank and notification id, one
/// registration of the memory. Source: P4 section 3.2 and P5 section 4.1 for RDMA writes with notification.
template <element T, class Communicator>
class window {
  using net_type = typename Communicator::transport_type;
  static_assert(atomic_transport<net_type>,
                "chorale::window: the transport has no one-sided and atomic operations");

 public:
  /// Exposes `memory`, which must stay where it is until the window ends. `notifications`: ids for
  /// put_notify, the same on all ranks. Collective. @throws error errc::mismatch if ranks want windows of
  /// other elements.
  window(Communicator& comm, std::span<T> memory, std::size_t notifications = 8)
      : window(comm, device_array<T>{}, memory, notifications) {}
  /// Exposes `count` elements from the device, all bytes zero.
  window(Communicator& comm, std::size_t count, std::size_t notifications = 8)
      : window(comm, detail::allocate_from<T>(comm.transport(), count), {}, notifications) {}
  window(const window&) = delete;
  window& operator=(const window&) = delete;
  /// Collective, as `fence`, unless an exception is under way or the communicator is poisoned: then, and if
  /// the others do not come, the window ends on this rank only, and accesses to it fail.
  ~window() {
    if (std::uncaught_exceptions() > exceptions_) return;
    try {
      fence();
    } catch (...) {
      // The communicator is poisoned and says why at its next call.
    }
  }

  /// This rank's memory.
  [[nodiscard]] std::span<T> local() const noexcept { return local_; }
  /// Elements that `rank` exposes.
  [[nodiscard]] std::size_t size(int rank) const {
    check_rank("size", rank);
    return static_cast<std::size_t>(memory_.region(rank).bytes / sizeof(T));
  }

  /// Writes `from` to elements [offset, offset + from.size()) of `target`.
  void put(int target, std::size_t offset, std::span<const T> from) {
    check("put", target, offset, from.size());
    if (!from.empty()) memory_.put(target, offset * sizeof(T), std::as_bytes(from));
  }
  /// Reads them into `into`.
  void get(int target, std::size_t offset, std::span<T> into) {
    check("get", target, offset, into.size());
    if (!into.empty()) memory_.get(target, offset * sizeof(T), std::as_writable_bytes(into));
  }
  /// All that this rank has put to `target` is there, and its sources may be used again.
  void flush(int target) {
    check_rank("flush", target);
    memory_.flush(target);
  }
  void flush_all() {
    for (int r = 0; r < comm_->size(); ++r) memory_.flush(r);
  }
  /// Collective: all that any rank has put is there, and every rank sees it.
  void fence() {
    flush_all();
    comm_->barrier();
  }

  /// Writes, and counts up this rank's notification `id` at the target once all that it has put there has
  /// arrived. Zero elements: the notification alone.
  void put_notify(int target, std::size_t offset, std::span<const T> from, std::size_t id) {
    check_id("put_notify", id);
    put(target, offset, from);
    memory_.notify(target, id);
  }
  /// Returns when `count` notifications `id` of `origin`, or of any ranks together, are there, and takes
  /// them.
  void wait_notified(int origin, std::size_t id, std::uint64_t count = 1) {
    check_id("wait_notified", id);
    if (origin != any_rank) check_rank("wait_notified", origin);
    memory_.wait(origin, [&] { return arrived(origin, id) >= count; });
    const int first = origin == any_rank ? 0 : origin;
    const int last = origin == any_rank ? comm_->size() - 1 : origin;
    for (int r = first; r <= last && count > 0; ++r) {
      const std::uint64_t part = std::min(count, memory_.notified(r, id));
      memory_.take(r, id, part);
      count -= part;
    }
  }
  /// Notifications that are there and were not taken.
  [[nodiscard]] std::uint64_t notified(int origin, std::size_t id) {
    check_id("notified", id);
    if (origin != any_rank) check_rank("notified", origin);
    memory_.look_around();
    return arrived(origin, id);
  }

  /// target[offset + i] = op(target[offset + i], from[i]), atomically for each i.
  template <class Op = sum_t>
  void accumulate(int target, std::size_t offset, std::span<const T> from, Op op = {}) {
    check("accumulate", target, offset, from.size());
    update(target, offset, from, {}, op);
  }
  /// The same; into[i] is what was there before. As many elements as `from`, no overlap.
  template <class Op = sum_t>
  void get_accumulate(int target, std::size_t offset, std::span<const T> from, std::span<T> into,
                      Op op = {}) {
    check("get_accumulate", target, offset, from.size());
    if (into.size() != from.size())
      reject("get_accumulate", std::to_string(into.size()) + " elements are to take the old values of " +
                                   std::to_string(from.size()));
    update(target, offset, from, into, op);
  }
  /// The same for one element. With `chorale::replace`: an exchange.
  template <class Op = sum_t>
  T fetch_and_op(int target, std::size_t offset, const T& value, Op op = {}) {
    check("fetch_and_op", target, offset, 1);
    T old = value;
    update(target, offset, {&value, 1}, {&old, 1}, op);
    return old;
  }
  /// Sets the element to `desired` if its bytes are those of `expected`; returns what was there before.
  T compare_and_swap(int target, std::size_t offset, const T& expected, const T& desired) {
    check("compare_and_swap", target, offset, 1);
    if constexpr (may_be_native) {
      if (is_native(target))
        return std::bit_cast<T>(memory_.compare_swap(target, offset * sizeof(T),
                                                     std::bit_cast<std::uint64_t>(expected),
                                                     std::bit_cast<std::uint64_t>(desired)));
    }
    T old = expected;
    memory_.locked(target, [&] {
      memory_.get(target, offset * sizeof(T), bytes_of_one(old));
      if (std::memcmp(&old, &expected, sizeof(T)) != 0) return;
      scratch_.assign(sizeof(T), std::byte{});
      std::memcpy(scratch_.data(), &desired, sizeof(T));
      memory_.put(target, offset * sizeof(T), scratch_);
    });
    return old;
  }

 private:
  static constexpr bool may_be_native = std::integral<T> && sizeof(T) == sizeof(std::uint64_t);
  static constexpr std::size_t stretch = std::max<std::size_t>(65536 / sizeof(T), 1);
  struct card {
    transport::remote_memory_card memory;
    std::uint64_t notifications;
    std::uint64_t type;
  };

  window(Communicator& comm, device_array<T> own, std::span<T> memory, std::size_t notifications)
      : comm_(&comm),
        exceptions_(std::uncaught_exceptions()),
        own_(std::move(own)),
        local_(own_.empty() ? memory : own_.span()),
        notifications_(notifications),
        memory_(comm.transport(), std::as_writable_bytes(local_), notifications) {
    const card mine{memory_.card(), notifications, type_tag<T>()};
    std::vector<card> all(static_cast<std::size_t>(comm.size()));
    comm.allgather(std::span<const card>{&mine, 1}, std::span<card>{all});
    std::vector<transport::remote_memory_card> cards;
    for (std::size_t r = 0; r < all.size(); ++r) {
      // All ranks compare with rank 0, so that all refuse or none does.
      if (all[r].type != all[0].type || all[r].notifications != all[0].notifications)
        throw error(errc::mismatch,
                    "window: rank 0 makes one of " + describe_type(static_cast<std::uint32_t>(all[0].type)) +
                        " with " + std::to_string(all[0].notifications) + " notifications, rank " +
                        std::to_string(r) + " one of " +
                        describe_type(static_cast<std::uint32_t>(all[r].type)) + " with " +
                        std::to_string(all[r].notifications),
                    {0, static_cast<int>(r)});
      cards.push_back(all[r].memory);
    }
    memory_.open(std::move(cards));
  }

  static std::span<std::byte> bytes_of_one(T& one) noexcept {
    return std::as_writable_bytes(std::span{&one, 1});
  }
  [[nodiscard]] bool is_native(int target) const noexcept {
    return memory_.region(target).address % sizeof(std::uint64_t) == 0;
  }
  [[nodiscard]] std::uint64_t arrived(int origin, std::size_t id) const noexcept {
    if (origin != any_rank) return memory_.notified(origin, id);
    std::uint64_t all = 0;
    for (int r = 0; r < comm_->size(); ++r) all += memory_.notified(r, id);
    return all;
  }

  /// `into` may be empty.
  template <class Op>
  void update(int target, std::size_t offset, std::span<const T> from, std::span<T> into, Op& op) {
    if constexpr (may_be_native) {
      if (is_native(target)) {
        for (std::size_t i = 0; i < from.size(); ++i) {
          const T old = update_word(target, (offset + i) * sizeof(T), from[i], op);
          if (!into.empty()) into[i] = old;
        }
        return;
      }
    }
    for (std::size_t first = 0; first < from.size(); first += stretch) {
      const std::size_t count = std::min(stretch, from.size() - first);
      const auto part = from.subspan(first, count);
      memory_.locked(target, [&] {
        scratch_.resize(count * sizeof(T));
        memory_.get(target, (offset + first) * sizeof(T), scratch_);
        if (!into.empty()) std::memcpy(into.data() + first, scratch_.data(), scratch_.size());
        for (std::size_t i = 0; i < count; ++i) combine(scratch_.data() + i * sizeof(T), part[i], op);
        memory_.put(target, (offset + first) * sizeof(T), scratch_);
      });
    }
  }
  template <class Op>
  static void combine(std::byte* place, const T& value, Op& op) {
    T old = value;
    std::memcpy(&old, place, sizeof(T));
    const T result = op(old, value);
    std::memcpy(place, &result, sizeof(T));
  }
  template <class Op>
  T update_word(int target, std::size_t offset, const T& value, Op& op) {
    if constexpr (std::same_as<Op, sum_t>)
      return std::bit_cast<T>(memory_.fetch_add(target, offset, std::bit_cast<std::uint64_t>(value)));
    auto old = memory_.fetch_add(target, offset, 0);
    for (;;) {
      const T result = op(std::bit_cast<T>(old), value);
      const auto seen = memory_.compare_swap(target, offset, old, std::bit_cast<std::uint64_t>(result));
      if (seen == old) return std::bit_cast<T>(old);
      old = seen;
    }
  }

  void check_rank(const char* what, int rank) const {
    if (rank < 0 || rank >= comm_->size())
      reject(what, "rank " + std::to_string(rank) + " is not in 0.." + std::to_string(comm_->size() - 1));
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
  [[noreturn]] void reject(const char* what, const std::string& why) const {
    throw error(errc::invalid_argument,
                std::string{"window: "} + what + " on rank " + std::to_string(comm_->rank()) + ": " + why);
  }

  Communicator* comm_;
  int exceptions_;
  device_array<T> own_;
  std::span<T> local_;
  std::size_t notifications_;
  std::vector<std::byte> scratch_;
  transport::remote_memory<net_type> memory_;
};

template <class Communicator, class T, std::size_t N>
window(Communicator&, std::span<T, N>) -> window<T, Communicator>;
template <class Communicator, class T, std::size_t N>
window(Communicator&, std::span<T, N>, std::size_t) -> window<T, Communicator>;

}  // namespace chorale
