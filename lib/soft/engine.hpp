// SPDX-License-Identifier: Apache-2.0
// How the device behaves where the specification leaves a choice: immediately and in order, or as a seed
// decides.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "../verbs/device_profile.hpp"

namespace chorale::soft {

/// A fraction of 2^32.
using probability = std::uint64_t;

/// The order in which writes become visible to a poller of this process's memory.
enum class placement : std::uint32_t {
  ordered,         ///< as posted, and their bytes by address
  scattered,       ///< as posted, the bytes of each in any order
  within_request,  ///< in any order, the bytes of each by address
  unordered,       ///< all bytes in any order
};

/// Settings from the environment.
struct engine_settings {
  bool deferred = false;         ///< CHORALE_SOFT_ENGINE
  std::uint64_t seed = 1;        ///< CHORALE_SOFT_SEED
  probability loss = 0;          ///< CHORALE_SOFT_LOSS: of datagrams and unreliable messages
  probability duplication = 0;   ///< CHORALE_SOFT_DUPLICATION: of datagrams
  std::uint32_t contexts = 256;  ///< CHORALE_SOFT_CONTEXTS: QP contexts in the adapter's cache
  /// CHORALE_SOFT_CONTEXT_MISS_NS: time to fetch a context that is not in the cache
  std::uint32_t context_miss_ns = 0;
  std::uint64_t rank = 0;        ///< rank of this process, so that ranks decide differently
  bool counts_contexts = false;  ///< deferred, or a miss has a cost
  placement placed = placement::ordered;
  verbs::order_answer in_order = verbs::order_answer::whole;
};

/// Reads the settings. 0, or EINVAL if a variable has an invalid value.
int read_engine_settings(engine_settings& settings) noexcept;
/// Sets the order in which writes become visible, and the device's answer about it. The profile determines
/// both, and its answer takes precedence; otherwise the seed decides for the deferred engine.
void settle_order(engine_settings& settings, const verbs::device_profile& profile) noexcept;

/// The subject of a decision; one entry for each independent decision about an object.
enum class matter : std::uint32_t {
  hold,
  completion,
  overtaking,
  placing,
  lateness,
  order,
  loss,
  duplication,
  flight
};

/// A random stream determined only by the seed, the rank, the object (its ordinal in its process), the number
/// of the request and the matter, not by time or other threads. A seed therefore reproduces each decision,
/// whatever the interleaving of processes.
class dice {
 public:
  dice(const engine_settings& settings, matter what, std::uint64_t object, std::uint64_t number) noexcept
      : state_(
            mixed(mixed(mixed(settings.seed, settings.rank), object << 8 | static_cast<std::uint64_t>(what)),
                  number)) {}

  std::uint64_t next() noexcept { return mixed(state_ += 0x9e3779b97f4a7c15, 0); }
  /// A number below `n`, which must not be 0.
  std::uint32_t below(std::uint32_t n) noexcept { return static_cast<std::uint32_t>(next() % n); }
  bool happens(probability p) noexcept { return (next() >> 32) < p; }
  /// For how many ticks something is held: usually none, sometimes a few, rarely many.
  std::uint64_t ticks() noexcept {
    const std::uint32_t kind = below(16);
    if (kind < 8) return 0;
    if (kind < 13) return 1 + below(4);
    return 4 + below(kind < 15 ? 16 : 60);
  }

 private:
  static constexpr std::uint64_t mixed(std::uint64_t a, std::uint64_t b) noexcept {
    std::uint64_t z = a * 0xff51afd7ed558ccd + b + 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

/// Counts the engine's actions, so that tests can verify that they exercised it.
struct engine_counters {
  std::atomic<std::uint64_t> held{0};
  std::atomic<std::uint64_t> overtaken{0};
  std::atomic<std::uint64_t> scattered{0};
  std::atomic<std::uint64_t> disordered{0};
  std::atomic<std::uint64_t> late{0};
  std::atomic<std::uint64_t> changed{0};
  std::atomic<std::uint64_t> reordered{0};
  std::atomic<std::uint64_t> lost{0};
  std::atomic<std::uint64_t> duplicated{0};
  // Bit n: an address handle with service level n was created.
  std::atomic<std::uint16_t> datagram_levels{0};
  std::atomic<std::uint16_t> multicast_levels{0};
};

/// The engine of one process. Its clock counts calls of the device: a polling program advances it; while the
/// program is idle the service thread does. Something held for three ticks is held for three calls, however
/// fast the machine is. Thread-safe.
class engine {
 public:
  engine_settings settings;
  engine_counters counters;
  std::atomic<std::uint32_t> flying{0};  ///< datagrams in flight

  [[nodiscard]] bool deferred() const noexcept { return settings.deferred; }
  [[nodiscard]] bool counts_contexts() const noexcept { return settings.counts_contexts; }
  [[nodiscard]] std::uint64_t now() const noexcept { return clock_.load(std::memory_order_relaxed); }
  std::uint64_t tick() noexcept { return clock_.fetch_add(1, std::memory_order_relaxed) + 1; }
  /// Schedules work for that tick.
  void remind(std::uint64_t tick) noexcept {
    std::uint64_t seen = next_.load(std::memory_order_relaxed);
    while (tick < seen && !next_.compare_exchange_weak(seen, tick, std::memory_order_relaxed)) {
    }
  }
  /// The program is idle: advances the clock to the next scheduled tick.
  void jump() noexcept {
    const std::uint64_t next = next_.exchange(nothing, std::memory_order_relaxed);
    std::uint64_t seen = now();
    const std::uint64_t wanted = next == nothing ? seen + 1 : next;
    while (seen < wanted && !clock_.compare_exchange_weak(seen, wanted, std::memory_order_relaxed)) {
    }
  }
  /// A number for a new object of this process.
  std::uint64_t next_ordinal() noexcept { return ordinals_.fetch_add(1, std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t nothing = std::numeric_limits<std::uint64_t>::max();
  std::atomic<std::uint64_t> clock_{0};
  std::atomic<std::uint64_t> next_{nothing};
  std::atomic<std::uint64_t> ordinals_{0};
};

}  // namespace chorale::soft
