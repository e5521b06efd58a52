// SPDX-License-Identifier: Apache-2.0
// Prints the rate of this machine's time stamp counter in kHz, measured for a fifth of a second: a guest
// reads the same counter, but cannot measure its rate on an emulated, shared core.
#include <chrono>
#include <cstdio>
#include <x86intrin.h>

int main() {
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  const auto first = __rdtsc();
  auto now = start;
  while (now - start < std::chrono::milliseconds{200}) now = clock::now();
  const auto ticks = static_cast<double>(__rdtsc() - first);
  std::printf("%.0f\n", ticks / std::chrono::duration<double, std::milli>(now - start).count());
}
