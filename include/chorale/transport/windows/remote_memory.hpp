// SPDX-License-Identifier: Apache-2.0
// Memory that all ranks of a group expose to each other, addressed by rank: the basis of windows.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/core/background.hpp>
#include <chorale/core/error.hpp>
#include <chorale/transport/concepts.hpp>
#include <chorale/transport/endpoint/endpoint.hpp>
#include <chorale/transport/observers/observed_access.hpp>
#include <chorale/transport/windows/remote_parts.hpp>

namespace chorale::transport {

/// Puts, gets, atomic operations, locks and notifications on memory of other ranks and of this one.
/// Operations are complete when they return; puts complete at the next `flush`. Offsets and sizes are in
/// bytes and not checked here. In addition to the exposed memory each rank has control words: a lock, and for
/// each rank a row of counters that only that rank writes. One thread at a time, that of the transport.
///
/// Failures poison the communicator, except for exceptions thrown by the caller's callbacks. errc::misuse,
/// without any effect: an operation from inside another one or from another thread, and any after the
/// transport was destroyed.
template <window_transport Net>
class remote_memory {
  using parts = remote_parts<Net>;
  using access = observed_access::kind;

 public:
  /// `counters`: number per rank. The ranks exchange their `card()`s and pass them to `open` before any other
  /// operation. @throws error errc::invalid_argument if `counters` is too large.
  remote_memory(Net& net, std::span<std::byte> mine, std::size_t counters)
      : rank_(net.rank()), size_(net.size()), counters_(counters) {
    constexpr std::size_t most = static_cast<std::size_t>(-1) / 4 / word;
    if (counters > most / static_cast<std::size_t>(size_))
      throw error(errc::invalid_argument, std::to_string(counters) + " notification ids for each of " +
                                              std::to_string(size_) + " ranks are more than there can be");
    const std::size_t all = static_cast<std::size_t>(size_) * counters;
    sent_.resize(all);
    consumed_.resize(all);
    parts_.emplace(net, mine, (first_counter + all + sources) * word, [this]() noexcept { parts_.reset(); });
  }
  remote_memory(const remote_memory&) = delete;
  remote_memory& operator=(const remote_memory&) = delete;
  ~remote_memory() = default;

  [[nodiscard]] remote_memory_card card() const noexcept { return parts_->card(); }
  void open(std::vector<remote_memory_card> cards) noexcept { cards_ = std::move(cards); }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] const remote_region& region(int rank) const noexcept { return at(rank).data; }

  /// Starts writing `from`, which must not change until `flush(target)`.
  void put(int target, std::size_t offset, std::span<const std::byte> from) {
    operate("put to", target, access::put, from.size(),
            [&](parts& p) { p.put(at(target).data, offset, from); });
  }
  /// The same for a copy, so that `from` may change at once.
  void put_copy(int target, std::size_t offset, std::span<const std::byte> from) {
    operate("put to", target, access::put, from.size(),
            [&](parts& p) { p.put_copy(at(target).data, offset, from); });
  }
  void get(int target, std::size_t offset, std::span<std::byte> into) {
    operate("get from", target, access::got, into.size(),
            [&](parts& p) { p.get(at(target).data, offset, into); });
  }
  void flush(int target) {
    operate("flush of", target, access::flushed, 0, [&](parts& p) { p.flush(target); });
  }
  void flush_all() {
    const auto inside = enter("flush of", -1);
    const observed_access told{calls(), access::flushed, -1};
    for (int r = 0; r < size_; ++r) guarded("flush of", r, [&](parts& p) { p.flush(r); });
  }

  /// Atomic operations on the word at `offset`, a multiple of 8. They return the old value.
  std::uint64_t fetch_add(int target, std::size_t offset, std::uint64_t value) {
    return operate("atomic operation on", target, access::updated, word,
                   [&](parts& p) { return p.fetch_add(at(target).data, offset, value); });
  }
  std::uint64_t compare_swap(int target, std::size_t offset, std::uint64_t expected, std::uint64_t wanted) {
    return operate("atomic operation on", target, access::updated, word,
                   [&](parts& p) { return p.compare_swap(at(target).data, offset, expected, wanted); });
  }
  /// Replaces the word by `next(old)`, which may be called several times.
  template <class Next>
  std::uint64_t update(int target, std::size_t offset, Next&& next) {
    const auto inside = enter("atomic operation on", target);
    const observed_access told{calls(), access::updated, target, word};
    const auto step = [&](auto&& body) { return guarded("atomic operation on", target, body); };
    auto old = step([&](parts& p) { return p.fetch_add(at(target).data, offset, 0); });
    for (;;) {
      const std::uint64_t wanted = next(old);
      const auto seen = step([&](parts& p) { return p.compare_swap(at(target).data, offset, old, wanted); });
      if (seen == old) return old;
      old = seen;
    }
  }

  /// Updates bytes of `target` while holding its exclusive lock: `change(bytes)` modifies a copy of them in
  /// place and returns true if it should be written back.
  ///
  /// Writer: the holder: writes the bytes and awaits their completion, then sets the lock to 0 by an atomic
  ///   operation.
  /// Reader: the next holder: takes the lock by an atomic operation, then reads the bytes.
  /// Pair: the two atomic operations of the device; those of `soft0` release and acquire.
  template <class Change>
  void locked(int target, std::size_t offset, std::size_t bytes, Change&& change) {
    const auto inside = enter("locked operation on", target);
    const observed_access told{calls(), access::updated, target, bytes};
    const auto step = [&](auto&& body) { guarded("locked operation on", target, body); };
    step([&](parts& p) {
      scratch_.resize(bytes);
      lock(p, target);
    });
    bool write = false;
    try {
      step([&](parts& p) { p.get(at(target).data, offset, scratch_); });
      write = change(std::span{scratch_});
    } catch (...) {
      try {
        step([&](parts& p) { unlock(p, target); });
      } catch (...) {
        // The exception in flight continues, and tells the reason unless an operator threw it.
        note_unseen(std::current_exception());
      }
      throw;
    }
    step([&](parts& p) {
      if (write) p.put(at(target).data, offset, scratch_);
      unlock(p, target);
    });
  }

  /// Increments this rank's counter `id` at `target`, after all its earlier puts there.
  void notify(int target, std::size_t id) {
    operate("notification of", target, access::notified, 0, [&](parts& p) {
      if (next_source_ == sources) {
        // The source word of a pending write must not change.
        p.flush_all();
        next_source_ = 0;
      }
      std::byte* place = p.controls() + (first_counter + consumed_.size() + next_source_++) * word;
      *reinterpret_cast<std::uint64_t*>(place) = gray_code(++sent_[index(target, id)]);
      p.put_control(at(target).control, (first_counter + index(rank_, id)) * word, {place, word});
    });
  }
  /// Notifications of `origin` that were not consumed yet. Precondition: the transport exists.
  [[nodiscard]] std::uint64_t notified(int origin, std::size_t id) const noexcept {
    const std::size_t i = index(origin, id);
    return from_gray_code(transport::load_acquire(parts_->controls() + (first_counter + i) * word)) -
           consumed_[i];
  }
  void take(int origin, std::size_t id, std::uint64_t count) noexcept {
    consumed_[index(origin, id)] += count;
  }
  /// Waits until `ready()`; `origin` is the awaited rank, or -1 for any.
  /// @throws error as `slow_wait::check`.
  template <class Ready>
  void wait(int origin, Ready&& ready) {
    operate("wait for notifications from", origin, access::awaited, 0, [&](parts& p) {
      Net& net = p.net();
      const auto there = [&] {
        if (ready()) return true;
        if constexpr (!Net::atomics_by_device) net.expect(origin);
        return ready();
      };
      if (there()) return;
      net.core().engine().wait(origin == rank_ ? -1 : origin, net.core().calls().window_access(), there);
    });
  }
  void progress_all() {
    const auto inside = enter("look at", -1);
    guarded("look at", -1, [&](parts& p) {
      p.net().core().engine().progress_all();
      if constexpr (!Net::atomics_by_device) p.net().expect(-1);
    });
  }
  /// Returns `count`, the number of notifications that a polling program has found after `progress_all`.
  /// Yields the core if it is the same as last time.
  std::uint64_t found(std::uint64_t count) noexcept {
    if (count == std::exchange(last_found_, count) && parts_) parts_->net().core().engine().give_way();
    return count;
  }

  /// Ends all access of peers to this rank's memory. `orderly`: all ranks know, and nothing is pending.
  /// Otherwise waits until the sources of puts have been read; if one may still be read after 100 ms, poisons
  /// the communicator, which ends all reads.
  void withdraw(bool orderly) noexcept {
    if (!parts_) return;
    if (!orderly) {
      parts_->net().core().dependent_objects().note_withdrawal();
      try {
        const auto give_up = clock::now() + patience_at_end;
        for (int r = 0; r < size_; ++r) guarded("puts to", r, [&](parts& p) { p.settle(r, give_up); });
      } catch (...) {
        note_unseen(std::current_exception());
      }
    }
    parts_.reset();
  }
  /// As `failures::note_unseen`; nothing if the transport has been destroyed.
  void note_unseen(const std::exception_ptr& why) noexcept {
    if (parts_) parts_->net().core().failures().note_unseen(why);
  }
  /// @throws error errc::misuse if the transport has been destroyed.
  void require_open(const std::string& what) const {
    if (!parts_)
      throw error(errc::misuse, "window on rank " + std::to_string(rank_) + ", " + what +
                                    ": its communicator has ended, and the window with it");
  }

 private:
  static constexpr std::size_t word = sizeof(std::uint64_t);
  static constexpr std::size_t first_counter = 8;  ///< the lock has its own cache line
  static constexpr std::size_t sources = 64;       ///< source words of notifications
  static constexpr std::chrono::milliseconds patience_at_end{100};

  // The counters of notifications are polled while an adapter may be writing them in parts. In this code two
  // successive numbers differ in one bit, so that any mixture of their bytes is one of the two.
  [[nodiscard]] static constexpr std::uint64_t gray_code(std::uint64_t number) noexcept {
    return number ^ number >> 1;
  }
  [[nodiscard]] static constexpr std::uint64_t from_gray_code(std::uint64_t code) noexcept {
    for (int distance = 1; distance < 64; distance *= 2) code ^= code >> distance;
    return code;
  }
  [[nodiscard]] const remote_memory_card& at(int rank) const noexcept {
    return cards_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] std::size_t index(int rank, std::size_t id) const noexcept {
    return static_cast<std::size_t>(rank) * counters_ + id;
  }

  /// Retries with back-off as long as the lock's holder is alive.
  void lock(parts& p, int target) {
    Net& net = p.net();
    const auto me = static_cast<std::uint64_t>(rank_) + 1;
    backoff pace{false};
    slow_wait watch{net.core().engine(), -1, net.core().calls().window_access()};
    for (;;) {
      const std::uint64_t holder = p.compare_swap(at(target).control, 0, 0, me);
      if (holder == 0) break;
      if (holder > static_cast<std::uint64_t>(net.size()))
        throw error(errc::peer_lost, "the lock was overwritten: it holds " + std::to_string(holder),
                    {target});
      watch.expect(static_cast<int>(holder) - 1);
      if (pace()) pace.elapsed(watch.check());
    }
    watch.end();
  }
  void unlock(parts& p, int target) {
    p.flush(target);
    static_cast<void>(p.compare_swap(at(target).control, 0, static_cast<std::uint64_t>(rank_) + 1, 0));
  }

  /// Precondition: the transport exists.
  [[nodiscard]] call_record& calls() const noexcept { return parts_->net().core().calls(); }
  [[nodiscard]] static std::string describe(const char* what, int target) {
    return std::string{what} + " " + (target < 0 ? "any rank" : "rank " + std::to_string(target));
  }
  /// Marks this thread as inside the communicator during the lifetime of the result.
  [[nodiscard]] occupancy::entry enter(const char* what, int target) {
    if (!parts_) [[unlikely]]
      require_open(describe(what, target));
    return {parts_->net().core().use(), operation::window};
  }
  /// Runs an operation, or a part of one; an error in it names the operation and poisons the communicator.
  template <class Body>
  auto guarded(const char* what, int target, Body&& body) {
    Net& net = parts_->net();
    net.core().failures().require_sound();
    try {
      return body(*parts_);
    } catch (const error& e) {
      std::string text =
          "window on rank " + std::to_string(rank_) + ", " + describe(what, target) + ": " + e.reason();
      if (e.code() == errc::peer_lost)
        text += "; a rank that has left its window by an exception refuses accesses, too";
      const error full{e.code(), text, e.ranks()};
      net.core().failures().fail(std::make_exception_ptr(full));
      throw full;
    } catch (...) {
      net.core().failures().fail(std::current_exception());
      throw;
    }
  }
  template <class Body>
  auto operate(const char* what, int target, access seen_as, std::size_t bytes, Body&& body) {
    const auto inside = enter(what, target);
    const observed_access told{calls(), seen_as, target, bytes};
    return guarded(what, target, body);
  }

  int rank_;
  int size_;
  std::size_t counters_;
  std::vector<remote_memory_card> cards_;
  std::vector<std::uint64_t> sent_;      ///< notifications, by target and id
  std::vector<std::uint64_t> consumed_;  ///< by origin and id
  std::size_t next_source_ = 0;
  std::uint64_t last_found_ = 0;
  std::vector<std::byte> scratch_;
  std::optional<parts> parts_;  ///< none once the transport has been destroyed
};

}  // namespace chorale::transport
