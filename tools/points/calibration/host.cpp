// SPDX-License-Identifier: Apache-2.0
// Measures a host's processor: costs that do not depend on the adapter.
#include <algorithm>
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

constexpr std::size_t far_bytes = std::size_t{32} << 20;

/// Measures `work(n)` for n bytes, up to `far_bytes`.
work_facts facts_of(const std::function<void(std::size_t)>& work) {
  work_facts found;
  for (const std::size_t bytes :
       {std::size_t{8}, std::size_t{256}, std::size_t{1} << 10, std::size_t{1} << 12, std::size_t{1} << 14,
        std::size_t{1} << 16, std::size_t{1} << 18, std::size_t{1} << 19, std::size_t{1} << 20,
        std::size_t{1} << 22, far_bytes}) {
    const int calls = static_cast<int>(std::clamp<std::size_t>((std::size_t{1} << 22) / bytes, 1, 20000));
    found.push_back({bytes, time_of(calls, [&](int n) {
                       for (int i = 0; i < n; ++i) work(bytes);
                     })});
  }
  return found;
}

/// Runs `play` on two threads that alternate. @returns seconds from one turn to the next.
double between_threads(int rounds, const std::function<void(int who, int rounds)>& play) {
  std::thread other{[&] { play(1, rounds); }};
  const auto begin = chorale::bench::timer::now();
  play(0, rounds);
  const double time = chorale::bench::seconds_since(begin) / (2.0 * rounds);
  other.join();
  return time;
}

double measure_wake() {
  std::array<std::array<int, 2>, 2> pipes{};
  for (auto& one : pipes)
    if (pipe(one.data()) != 0)
      throw std::runtime_error(fmt::format("calibrate: pipe: {}", std::strerror(errno)));
  const double time = between_threads(2000, [&pipes](int who, int rounds) {
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
    found.wake = measure_wake();
    found.crowd = std::max(0.0, turn_of(4) - turn_of(2));
  }
  found.notice = std::max(0.0, found.notice - found.look);
  in.control.barrier();
  return found;
}

}  // namespace points::calibration
