// SPDX-License-Identifier: Apache-2.0
// The cost of copies through the system and by a core on this machine.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <chorale/core/clock.hpp>

#include "../core/system_files.hpp"
#include "../verbs/zero_copy_threshold.hpp"
#include "device.hpp"
#include "objects.hpp"
#include "process.hpp"

namespace chorale::soft {
namespace {

/// Enough samples that one is not interrupted.
constexpr int samples = 7;
/// The cost in nanoseconds of a system call that is refused.
constexpr double refused = 1e9;

/// Nanoseconds of the fastest of `samples` runs of `work`.
template <class Work>
double fastest(Work work) {
  auto best = clock::duration::max();
  for (int i = 0; i < samples; ++i) {
    const auto begin = clock::now();
    work();
    best = std::min(best, clock::now() - begin);
  }
  return std::chrono::duration<double, std::nano>(best).count();
}

/// Whether other processes' memory is inaccessible to this one, though its own is not: because of Yama's
/// ptrace_scope, or because this process is not dumpable, and so presumably neither are the others.
bool are_peers_out_of_reach() noexcept {
  char scope = '0';
  const detail::unique_fd file = detail::open_of_system("/proc/sys/kernel/yama/ptrace_scope");
  if (file.get() >= 0 && read(file.get(), &scope, 1) != 1) scope = '0';
  return scope == '3' || (geteuid() != 0 && (scope == '2' || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 1));
}

/// The process copies from itself: that needs no peer, and fails where a filter forbids these calls. Most of
/// the measurement's time goes into touching the pages and into the first call.
std::size_t measure() noexcept {
  // Both halves together exceed the first-level cache.
  constexpr std::size_t bytes = 32768;
  const std::unique_ptr<unsigned char[]> memory{new (std::nothrow) unsigned char[2 * bytes]{}};
  if (!memory) return verbs::zero_copy_threshold(refused, 1);
  unsigned char* const from = memory.get();
  unsigned char* const to = from + bytes;
  bool is_refused = are_peers_out_of_reach();
  const double call = fastest([&] {
    const iovec here{to, 8};
    const iovec there{from, 8};
    is_refused = is_refused || process_vm_readv(getpid(), &here, 1, &there, 1, 0) != 8;
  });
  const double copy = fastest([&] {
    std::memcpy(to, from, bytes);
    asm volatile("" : : "r"(to) : "memory");
  });
  // `zero_copy_threshold` fits mailbox blocks that are reused while the reader's core still holds their
  // lines; blocks that are reused later cost half as much.
  constexpr int times_as_fast = 2;
  return verbs::zero_copy_threshold(is_refused ? refused : call, copy / bytes / times_as_fast);
}

}  // namespace

std::size_t zero_copy_from(ibv_context* c) noexcept {
  if (context::of(c).owner->copying() == copy_mode::bounce) return verbs::zero_copy_threshold(refused, 1);
  static const std::size_t found = measure();
  return found;
}

}  // namespace chorale::soft
