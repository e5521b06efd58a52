// How the device behaves where the specification leaves it free: at once and in order, or as a seed says.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

namespace chorale::soft {

/// Part of 2^32.
using probability = std::uint64_t;

/// What the environment chooses.
struct engine_settings {
  bool deferred = false;         ///< CHORALE_SOFT_ENGINE
  std::uint64_t seed = 1;        ///< CHORALE_SOFT_SEED
  probability loss = 0;          ///< CHORALE_SOFT_LOSS: of datagrams and unreliable messages
  probability duplication = 0;   ///< CHORALE_SOFT_DUPLICATION: of datagrams
  std::uint32_t contexts = 256;  ///< CHORALE_SOFT_CONTEXTS: QP contexts that the adapter's cache holds
  /// CHORALE_SOFT_CONTEXT_MISS_NS: what it takes to fetch one that is not in the cache
  std::uint32_t context_miss_ns = 0;
  std::uint64_t rank = 0;        ///< of this process, so that ranks decide differently
  bool counts_contexts = false;  ///< deferred, or a miss costs something
};

/// Reads them. 0, or EINVAL if a variable has a value that it cannot have.
int read_engine_settings(engine_settings& settings) noexcept;

/// What a decision is about; one more to tell decisions about one object apart.
enum class matter : std::uint32_t {
  hold,
  completion,
  overtaking,
  placement,
  order,
  loss,
  duplication,
  flight
};

/// A stream of numbers that depends on the seed, the rank, the object (its ordinal in its process), the
/// number of the request and the matter, and on nothing else: not on time, not on what other threads do. So a
/// seed repeats each decision, however the processes run beside each other.
class dice {
 public:
  dice(const engine_settings& settings, matter what, std::uint64_t object, std::uint64_t number) noexcept
      : state_(
            mixed(mixed(mixed(settings.seed, settings.rank), object << 8 | static_cast<std::uint64_t>(what)),
                  number)) {}

  std::uint64_t next() noexcept { return mixed(state_ += 0x9e3779b97f4a7c15, 0); }
  /// A number below `n`, which is not 0.
  std::uint32_t below(std::uint32_t n) noexcept { return static_cast<std::uint32_t>(next() % n); }
  bool happens(probability p) noexcept { return (next() >> 32) < p; }
  /// For how many ticks something is held: mostly none, sometimes a few, seldom many.
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

/// Counts of what the engine did, by which tests see that they exercised it.
struct engine_counters {
  std::atomic<std::uint64_t> held{0};
  std::atomic<std::uint64_t> overtaken{0};
  std::atomic<std::uint64_t> scattered{0};
  std::atomic<std::uint64_t> disordered{0};
  std::atomic<std::uint64_t> changed{0};
  std::atomic<std::uint64_t> reordered{0};
  std::atomic<std::uint64_t> lost{0};
  std::atomic<std::uint64_t> duplicated{0};
  // Bit n: an address handle at service level n was made.
  std::atomic<std::uint16_t> datagram_levels{0};
  std::atomic<std::uint16_t> multicast_levels{0};
};

/// The engine of one process. Its clock counts calls of the device: a program that polls moves it, and the
/// service thread does when the program is quiet. So what is held for three ticks is held for three calls,
/// however fast the machine is. Any thread.
class engine {
 public:
  engine_settings settings;
  engine_counters counters;
  std::atomic<std::uint32_t> flying{0};  ///< datagrams under way

  [[nodiscard]] bool deferred() const noexcept { return settings.deferred; }
  [[nodiscard]] bool counts_contexts() const noexcept { return settings.counts_contexts; }
  [[nodiscard]] std::uint64_t now() const noexcept { return clock_.load(std::memory_order_relaxed); }
  std::uint64_t tick() noexcept { return clock_.fetch_add(1, std::memory_order_relaxed) + 1; }
  /// Something is to happen at that tick.
  void remind(std::uint64_t tick) noexcept {
    std::uint64_t seen = next_.load(std::memory_order_relaxed);
    while (tick < seen && !next_.compare_exchange_weak(seen, tick, std::memory_order_relaxed)) {
    }
  }
  /// The program is quiet: lets the clock go on to what is to happen next.
  void jump() noexcept {
    const std::uint64_t next = next_.exchange(nothing, std::memory_order_relaxed);
    std::uint64_t seen = now();
    const std::uint64_t wanted = next == nothing ? seen + 1 : next;
    while (seen < wanted && !clock_.compare_exchange_weak(seen, wanted, std::memory_order_relaxed)) {
    }
  }
  /// A number for an object of this process that is made now.
  std::uint64_t next_ordinal() noexcept { return ordinals_.fetch_add(1, std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t nothing = std::numeric_limits<std::uint64_t>::max();
  std::atomic<std::uint64_t> clock_{0};
  std::atomic<std::uint64_t> next_{nothing};
  std::atomic<std::uint64_t> ordinals_{0};
};

}  // namespace chorale::soft
