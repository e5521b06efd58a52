// Lower bounds for a message between two processes and for a copy on this machine: a flag that two pinned
// processes pass back and forth, each polling a cache line that the other writes; and memcpy.
//
//     perftest-floor latency CORE CORE [ROUNDS]
//     perftest-floor copy CORE BYTES
//
// Prints one figure: nanoseconds one way (the median over samples of 1000 round trips), or MB/s (1e6 bytes).
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "one_core.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

struct lines {
  alignas(64) std::atomic<unsigned> there;
  alignas(64) std::atomic<unsigned> back;
};

double seconds_since(clock_type::time_point begin) {
  return std::chrono::duration<double>(clock_type::now() - begin).count();
}

double median(std::vector<double>& samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

/// The other side echoes until it sees `last`, or its parent is gone.
[[noreturn]] void echo(lines& shared, int core, unsigned last) {
  const pid_t parent = getppid();
  if (!tools::keep_on_core(core)) _exit(1);
  unsigned seen = 0;
  for (unsigned long spins = 0; seen != last; ++spins) {
    const unsigned now = shared.there.load(std::memory_order_acquire);
    if (now != seen) {
      shared.back.store(seen = now, std::memory_order_release);
      spins = 0;
    } else if (spins % (1UL << 26) == 0 && getppid() != parent) {
      _exit(1);
    }
  }
  _exit(0);
}

int latency(int here, int there, unsigned rounds) {
  constexpr unsigned batch = 1000;
  void* memory = mmap(nullptr, sizeof(lines), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  auto& shared = *static_cast<lines*>(memory);
  const pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) echo(shared, there, rounds * batch);
  if (!tools::keep_on_core(here)) return 1;
  std::vector<double> samples;
  for (unsigned value = 0, round = 0; round < rounds; ++round) {
    const auto begin = clock_type::now();
    for (unsigned i = 0; i < batch; ++i) {
      shared.there.store(++value, std::memory_order_release);
      for (unsigned long spins = 0; shared.back.load(std::memory_order_acquire) != value; ++spins)
        if (spins % (1UL << 26) == (1UL << 26) - 1 && waitpid(child, nullptr, WNOHANG) != 0) return 1;
    }
    samples.push_back(seconds_since(begin) * 1e9 / batch / 2);
  }
  waitpid(child, nullptr, 0);
  std::printf("%.1f\n", median(samples));
  return 0;
}

int copy(int core, std::size_t bytes) {
  if (!tools::keep_on_core(core) || bytes == 0) return 1;
  // Whole pages, as programs register them: some processors copy to unaligned destinations at a tenth of the
  // speed.
  const std::size_t whole = (bytes + 4095) / 4096 * 4096;
  const std::unique_ptr<void, decltype(&std::free)> from(std::aligned_alloc(4096, whole), std::free);
  const std::unique_ptr<void, decltype(&std::free)> to(std::aligned_alloc(4096, whole), std::free);
  if (from == nullptr || to == nullptr) return 1;
  std::memset(from.get(), 1, whole);
  std::memset(to.get(), 2, whole);
  const std::size_t repeats = std::max<std::size_t>(1, (std::size_t{16} << 20) / bytes);
  std::vector<double> samples;
  for (int round = 0; round < 50; ++round) {
    const auto begin = clock_type::now();
    for (std::size_t i = 0; i < repeats; ++i) {
      std::memcpy(to.get(), from.get(), bytes);
      asm volatile("" : : "r"(to.get()) : "memory");
    }
    samples.push_back(static_cast<double>(bytes * repeats) / seconds_since(begin) / 1e6);
  }
  std::printf("%.0f\n", median(samples));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 4 && std::strcmp(argv[1], "latency") == 0)
    return latency(std::atoi(argv[2]), std::atoi(argv[3]),
                   argc > 4 ? static_cast<unsigned>(std::max(1, std::atoi(argv[4]))) : 300);
  if (argc == 4 && std::strcmp(argv[1], "copy") == 0)
    return copy(std::atoi(argv[2]), static_cast<std::size_t>(std::atoll(argv[3])));
  std::fprintf(stderr, "Usage: perftest-floor latency CORE CORE [ROUNDS] | perftest-floor copy CORE BYTES\n");
  return 2;
}
