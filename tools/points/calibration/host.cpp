// A host's processor: what costs the same on any adapter.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <functional>
#include <sched.h>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include <chorale/bench/aligned_floats.hpp>
#include <chorale/communicator.hpp>
#include <chorale/core/reduction.hpp>

#include "../../bench/floor.hpp"
#include "facts.hpp"

namespace points::calibration {
namespace {

constexpr std::size_t near_bytes = std::size_t{128} << 10;
constexpr std::size_t far_bytes = std::size_t{32} << 20;

/// `work(n)` on n bytes, of which there are `far_bytes`.
work_facts facts_of(const std::function<void(std::size_t)>& work) {
  const auto time = [&](std::size_t bytes, int calls) {
    return time_of(calls, [&](int n) {
      for (int i = 0; i < n; ++i) work(bytes);
    });
  };
  work_facts found;
  found.call = time(8, 20000);
  const double near = time(near_bytes, 100);
  found.near_rate = static_cast<double>(near_bytes) / std::max(near - found.call, 1e-9);
  found.far_rate = static_cast<double>(far_bytes) / time(far_bytes, 1);
  return found;
}

/// Has two threads take turns by `pass(turn)`, which waits for the turn and gives it to the other. @returns
/// seconds from one to the other.
double between_threads(int rounds, bool one_core, const std::function<void(int who, int rounds)>& play) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  const cpu_set_t before = allowed;
  if (one_core) {
    const int core = sched_getcpu();
    CPU_ZERO(&allowed);
    CPU_SET(core, &allowed);
    sched_setaffinity(0, sizeof allowed, &allowed);
  }
  double time = 0;
  {
    std::thread other{[&] { play(1, rounds); }};
    const auto begin = chorale::bench::timer::now();
    play(0, rounds);
    time = chorale::bench::seconds_since(begin) / (2.0 * rounds);
    other.join();
  }
  sched_setaffinity(0, sizeof before, &before);
  return time;
}

double measure_switch() {
  std::atomic<int> turn{0};
  return between_threads(20000, true, [&turn](int who, int rounds) {
    for (int i = 0; i < rounds; ++i) {
      while (turn.load(std::memory_order_acquire) != who) sched_yield();
      turn.store(1 - who, std::memory_order_release);
    }
  });
}

double measure_wake() {
  std::array<std::array<int, 2>, 2> pipes{};
  for (auto& one : pipes)
    if (pipe(one.data()) != 0)
      throw std::runtime_error(fmt::format("calibrate: pipe: {}", std::strerror(errno)));
  const double time = between_threads(2000, false, [&pipes](int who, int rounds) {
    char token = 0;
    for (int i = 0; i < rounds; ++i) {
      if (who == 0 && write(pipes[0][1], &token, 1) != 1) std::terminate();
      if (read(pipes[static_cast<std::size_t>(1 - who)][0], &token, 1) != 1) std::terminate();
      if (who == 1 && write(pipes[1][1], &token, 1) != 1) std::terminate();
    }
  });
  for (const auto& one : pipes)
    for (const int fd : one) close(fd);
  return time;
}

double measure_look() {
  std::atomic<std::uint64_t> flag{0};
  return time_of(100000, [&flag](int n) {
    for (int i = 0; i < n; ++i)
      if (flag.load(std::memory_order_acquire) != 0) std::terminate();
  });
}

}  // namespace

host_facts measure_host(const job& in) {
  host_facts found;
  found.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  chorale::communicator<> other;
  bench::flag_floor floor{other};
  if (!floor.available()) throw std::runtime_error("calibrate: " + floor.reason());
  found.notice = one_way(in, [&floor](int rounds) { floor.run(rounds); });
  if (in.control.rank() == 0) {
    chorale::bench::aligned_floats from{far_bytes / sizeof(float)};
    chorale::bench::aligned_floats to{far_bytes / sizeof(float)};
    std::memset(from.data(), 0, far_bytes);
    std::memset(to.data(), 0, far_bytes);
    const auto source = std::as_bytes(from.span());
    const auto target = std::as_writable_bytes(to.span());
    found.copy = facts_of([&](std::size_t bytes) { std::memcpy(target.data(), source.data(), bytes); });
    const auto add = chorale::reduction::of<double>(std::plus<>{});
    found.combine =
        facts_of([&](std::size_t bytes) { add.combine_left(target.first(bytes), source.first(bytes)); });
    found.look = measure_look();
    found.context_switch = measure_switch();
    found.wake = measure_wake();
  }
  found.notice = std::max(0.0, found.notice - found.look);
  in.control.barrier();
  return found;
}

}  // namespace points::calibration
