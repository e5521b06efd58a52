// SPDX-License-Identifier: Apache-2.0
#include "shortage.hpp"

#include <cstddef>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <fmt/format.h>

namespace chorale {
namespace {

/// Bytes of a new thread's stack.
std::size_t stack_bytes() noexcept {
  std::size_t bytes = std::size_t{8} << 20;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return bytes;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return bytes;
}

bool has_room_for(std::size_t bytes) noexcept {
  void* const place =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  return place != MAP_FAILED && munmap(place, bytes) == 0;
}

}  // namespace

std::string memory_limits() {
  std::string text;
  const auto add = [&](auto resource, const char* command) {
    rlimit set{};
    if (getrlimit(resource, &set) == 0 && set.rlim_cur != RLIM_INFINITY)
      text += fmt::format("{}'{}' (now {} KiB)", text.empty() ? "" : ", ", command, set.rlim_cur >> 10);
  };
  add(RLIMIT_AS, "ulimit -v");
  add(RLIMIT_DATA, "ulimit -d");
  return text.empty() ? "the container's memory, or vm.max_map_count and vm.overcommit_memory of this host"
                      : text + " or the container's memory";
}

std::string why_no_thread() {
  const std::size_t stack = stack_bytes();
  if (!has_room_for(stack))
    return fmt::format("there is no memory for a thread's stack of {} KiB: raise {}", stack >> 10,
                       memory_limits());
  return "this user or container has reached its limit of threads: raise 'ulimit -u', or the container's "
         "pids.max";
}

}  // namespace chorale
