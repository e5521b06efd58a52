// Memory that all ranks of a group have exposed to each other, by rank: what windows are made of.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/core/background.hpp>
#include <chorale/core/error.hpp>
#include <chorale/transport/concepts.hpp>
#include <chorale/transport/endpoint.hpp>
#include <chorale/transport/loopback.hpp>
#include <chorale/transport/registration_cache.hpp>
#include <chorale/verbs/registered_buffer.hpp>

namespace chorale::transport {

/// What a rank tells the others of its part.
struct remote_memory_card {
  remote_region data;
  remote_region control;
};

/// Puts, gets, atomic words, locks and notifications on memory of the other ranks and of this one, each over
/// when it returns, but for puts, which are at the next `flush`. Offsets and sizes in bytes, not checked
/// here. Beside the exposed memory each rank has control words: a lock, and for each rank a row of counters
/// which that rank alone writes. Every failure poisons the communicator. One thread at a time, that of the
/// transport.
template <atomic_transport Net>
class remote_memory {
 public:
  /// `counters`: for each rank. The ranks exchange their `card()`s and hand them to `open` before anything
  /// else.
  remote_memory(Net& net, std::span<std::byte> mine, std::size_t counters)
      : net_(net),
        counters_(counters),
        memory_(net.domain(),
                (first_counter + static_cast<std::size_t>(net.size()) * counters + sources) * word,
                IBV_ACCESS_LOCAL_WRITE),
        data_(net.expose(mine)),
        control_(net.expose(memory_.span())),
        under_way_(static_cast<std::size_t>(net.size())),
        sent_(static_cast<std::size_t>(net.size()) * counters),
        consumed_(static_cast<std::size_t>(net.size()) * counters) {}
  remote_memory(const remote_memory&) = delete;
  remote_memory& operator=(const remote_memory&) = delete;
  ~remote_memory() {
    control_.reset();
    net_.forget(memory_.span());
  }

  [[nodiscard]] remote_memory_card card() const noexcept { return {data_->region(), control_->region()}; }
  void open(std::vector<remote_memory_card> cards) noexcept { cards_ = std::move(cards); }
  [[nodiscard]] const remote_region& region(int rank) const noexcept { return at(rank).data; }
  [[nodiscard]] Net& net() const noexcept { return net_; }

  /// Begins to write `from`, which stays as it is until `flush(target)`.
  void put(int target, std::size_t offset, std::span<const std::byte> from) {
    guarded("put to", target, [&] {
      auto& held = under_way_[static_cast<std::size_t>(target)];
      if (held.size() >= most_under_way) flush_now(target);
      held.push_back(net_.lend(from));
      finish(net_.put(at(target).data, offset, held.back(), from, net_.current()));
    });
  }
  void get(int target, std::size_t offset, std::span<std::byte> into) {
    guarded("get from", target, [&] {
      const auto local = net_.expose(into);
      finish(net_.get(at(target).data, offset, local, into, net_.current()));
    });
  }
  void flush(int target) {
    guarded("flush of", target, [&] { flush_now(target); });
  }

  /// Atomic operations on the word at `offset`, a multiple of 8. They return the old value.
  std::uint64_t fetch_add(int target, std::size_t offset, std::uint64_t value) {
    return guarded("atomic operation on", target, [&] { return add_now(target, offset, value); });
  }
  std::uint64_t compare_swap(int target, std::size_t offset, std::uint64_t expected, std::uint64_t wanted) {
    return guarded("atomic operation on", target,
                   [&] { return swap_now(at(target).data, offset, expected, wanted); });
  }

  /// Runs `body` while this rank has the lock of `target`, which is held by one rank at a time. What `body`
  /// has put is there before the next rank has the lock.
  template <class Body>
  void locked(int target, Body&& body) {
    guarded("lock of", target, [&] { lock(target); });
    try {
      body();
    } catch (...) {
      try {
        unlock(target);
      } catch (...) {
        // Then the communicator is poisoned, and why is what is under way already.
      }
      throw;
    }
    unlock(target);
  }

  /// Counts up this rank's counter `id` at `target`, behind all that it has put there.
  void notify(int target, std::size_t id) {
    guarded("notification of", target, [&] {
      if (next_source_ == sources) {
        // A word that waits to be sent must not change.
        for (int r = 0; r < net_.size(); ++r) flush_now(r);
        next_source_ = 0;
      }
      std::byte* place = memory_.data() + (first_counter + consumed_.size() + next_source_++) * word;
      const std::span source{place, word};
      *reinterpret_cast<std::uint64_t*>(place) = ++sent_[index(target, id)];
      const std::size_t offset = (first_counter + index(net_.rank(), id)) * word;
      finish(net_.put(at(target).control, offset, *control_, source, net_.current()));
    });
  }
  /// Notifications of `origin` that were not taken yet.
  [[nodiscard]] std::uint64_t notified(int origin, std::size_t id) const noexcept {
    const std::size_t i = index(origin, id);
    return load_acquire(memory_.data() + (first_counter + i) * word) - consumed_[i];
  }
  void take(int origin, std::size_t id, std::uint64_t count) noexcept {
    consumed_[index(origin, id)] += count;
  }
  /// Waits until `ready()`; `origin` is the rank that it depends on, or -1. @throws error errc::deadline.
  template <class Ready>
  void wait(int origin, Ready&& ready) {
    guarded("wait for notifications from", origin, [&] {
      const auto there = [&] {
        if (ready()) return true;
        if constexpr (!Net::atomics_by_device) net_.expect(origin);
        return ready();
      };
      if (there()) return;
      if (origin >= 0 && origin != net_.rank()) {
        net_.wait(origin, net_.current(), there);
        return;
      }
      patiently([&] { return there(); }, [&] { return std::string{"they have not come"}; });
    });
  }
  void look_around() {
    guarded("look at", -1, [&] {
      net_.look_around();
      if constexpr (!Net::atomics_by_device) net_.expect(-1);
    });
  }

 private:
  using held_memory = decltype(std::declval<Net&>().expose(std::span<std::byte>{}));
  static constexpr std::size_t word = sizeof(std::uint64_t);
  static constexpr std::size_t first_counter = 8;  ///< the lock has a cache line of its own
  static constexpr std::size_t sources = 64;
  static constexpr std::size_t most_under_way = 256;

  [[nodiscard]] const remote_memory_card& at(int rank) const noexcept {
    return cards_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] std::size_t index(int rank, std::size_t id) const noexcept {
    return static_cast<std::size_t>(rank) * counters_ + id;
  }

  /// The result of an operation of the transport, waited for in place.
  template <class Awaitable>
  auto finish(Awaitable operation) {
    net_.set_blocking(true);
    operation.await_ready();
    return operation.await_resume();
  }
  void flush_now(int target) {
    finish(net_.flush(target, net_.current()));
    under_way_[static_cast<std::size_t>(target)].clear();
  }
  loopback& own() {
    if (!loopback_) loopback_.emplace(net_);
    return *loopback_;
  }
  void require_atomics() const {
    if (Net::atomics_by_device && net_.device().attributes().atomic_cap == IBV_ATOMIC_NONE)
      throw error(errc::unsupported, "the device " + net_.chosen().device.name +
                                         " has no atomic operations; use put, get and notifications");
  }
  std::uint64_t add_now(int target, std::size_t offset, std::uint64_t value) {
    require_atomics();
    const remote_region& there = at(target).data;
    if constexpr (Net::atomics_by_device)
      if (target == net_.rank()) return own().fetch_add(there, offset, value);
    return finish(net_.fetch_add(there, offset, value, net_.current()));
  }
  std::uint64_t swap_now(const remote_region& there, std::size_t offset, std::uint64_t expected,
                         std::uint64_t wanted) {
    require_atomics();
    if constexpr (Net::atomics_by_device)
      if (there.owner == net_.rank()) return own().compare_swap(there, offset, expected, wanted);
    return finish(net_.compare_swap(there, offset, expected, wanted, net_.current()));
  }

  /// Tries until `succeeds()`, in growing intervals. @throws error errc::deadline with `reason()`.
  template <class Succeeds, class Reason>
  void patiently(Succeeds&& succeeds, Reason&& reason) {
    backoff pace{false};
    const auto start = steady::now();
    while (!succeeds()) {
      if (!pace()) continue;
      net_.look_around();
      const auto waited = steady::now() - start;
      pace.elapsed(waited);
      if (waited > net_.settings().deadline)
        throw error(errc::deadline, "waited " + std::to_string(net_.settings().deadline.count()) +
                                        " ms: " + reason() +
                                        "; config::deadline or CHORALE_DEADLINE_MS sets the limit");
    }
  }
  void lock(int target) {
    const auto me = static_cast<std::uint64_t>(net_.rank()) + 1;
    std::uint64_t holder = 0;
    patiently([&] { return (holder = swap_now(at(target).control, 0, 0, me)) == 0; },
              [&] { return "rank " + std::to_string(holder - 1) + " holds the lock"; });
  }
  void unlock(int target) {
    guarded("unlock of", target, [&] {
      flush_now(target);
      static_cast<void>(swap_now(at(target).control, 0, static_cast<std::uint64_t>(net_.rank()) + 1, 0));
    });
  }

  /// Runs a part of an operation; what goes wrong in it names the operation and poisons the communicator.
  template <class Body>
  auto guarded(const char* what, int target, Body&& body) {
    const occupancy::entry inside{net_.use(), operation::window};
    net_.require_sound();
    try {
      return body();
    } catch (const error& e) {
      std::string text = e.what();
      // The category's message ends this error's text as well.
      const std::string ending = ": " + e.code().message();
      if (text.ends_with(ending)) text.resize(text.size() - ending.size());
      const error full{e.code(),
                       "window on rank " + std::to_string(net_.rank()) + ", " + what + " " +
                           (target < 0 ? "any rank" : "rank " + std::to_string(target)) + ": " + text,
                       e.ranks()};
      net_.fail(std::make_exception_ptr(full));
      throw full;
    } catch (...) {
      net_.fail(std::current_exception());
      throw;
    }
  }

  Net& net_;
  std::size_t counters_;
  verbs::registered_buffer memory_;
  std::optional<held_memory> data_;
  std::optional<held_memory> control_;
  std::vector<remote_memory_card> cards_;
  std::vector<std::vector<held_memory>> under_way_;  ///< sources of puts, by target
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> consumed_;
  std::size_t next_source_ = 0;
  std::optional<loopback> loopback_;
};

}  // namespace chorale::transport
