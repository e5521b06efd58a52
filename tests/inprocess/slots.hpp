// SPDX-License-Identifier: Apache-2.0
// Whether the ranks of a test can share slots.
#pragma once

#include <cstddef>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "ranks.hpp"

namespace inprocess {

/// True if ranks share no slots here: in virtual time, and where the system, or QEMU in its place, does not
/// map memory a second time.
inline bool left_out_without_slots() {
  if (support::left_out_in_virtual_time("its ranks share no slots")) return true;
  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  void* const twin = mremap(memory, 0, bytes, MREMAP_MAYMOVE);
  munmap(memory, bytes);
  if (twin != MAP_FAILED) {
    munmap(twin, bytes);
    return false;
  }
  WARN("left out: memory cannot be mapped a second time here");
  return true;
}

}  // namespace inprocess
