// SPDX-License-Identifier: Apache-2.0
// The registration cache over a fake driver: when memory is registered, and that registrations of unmapped
// memory are never used again.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <linux/userfaultfd.h>
#include <map>
#include <optional>
#include <random>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/error.hpp>
#include <chorale/transport/memory/registration_cache.hpp>
#include <chorale/verbs/device.hpp>

#include "../robustness/filter.hpp"
#include "../support/instrumented.hpp"
#include "../support/other_process.hpp"
#include "fake_driver.hpp"

using namespace chorale::transport;
using rights = registration_cache::rights;

namespace {

const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

/// A device with one protection domain and a cache on it.
struct scene {
  explicit scene(chorale::registration_policy policy, bool by_address, std::size_t entries = 256,
                 std::size_t bytes = std::size_t{1} << 30) {
    fake::real() = {.devices = {fake::infiniband("fake0")}};
    const std::vector<const chorale::verbs::driver*> drivers{&fake::real_driver()};
    device.emplace(chorale::verbs::device::open("fake0", drivers));
    domain.emplace(*device);
    chorale::config c;
    c.registration = policy;
    c.registration_entries = entries;
    c.registration_bytes = bytes;
    cache.emplace(*domain, c, by_address, device->remote_access());
  }
  ~scene() {
    cache.reset();
    CHECK(fake::real().live["mr"] == 0);
  }

  std::optional<chorale::verbs::device> device;
  std::optional<chorale::verbs::protection_domain> domain;
  std::optional<registration_cache> cache;
};

/// CHORALE_TEST_SEED or random; printed.
std::uint64_t seed() {
  const char* given = std::getenv("CHORALE_TEST_SEED");
  const std::uint64_t s = given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  std::cout << "CHORALE_TEST_SEED=" << s << std::endl;
  return s;
}

scene cached() {
  return scene{chorale::registration_policy::automatic, true};
}

/// Separate pages, at a chosen address if one is given.
std::span<std::byte> map(std::size_t pages, void* where = nullptr) {
  void* at = mmap(where, pages * page, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | (where != nullptr ? MAP_FIXED : 0), -1, 0);
  REQUIRE(at != MAP_FAILED);
  std::fill_n(static_cast<std::byte*>(at), pages * page, std::byte{1});
  return {static_cast<std::byte*>(at), pages * page};
}

std::uint32_t made() {
  return fake::real().registrations;
}
bool alive(std::uint32_t lkey) {
  return fake::real().regions.contains(lkey);
}
/// True if the region of that key covers the memory.
bool covers(std::uint32_t lkey, std::span<const std::byte> memory) {
  const auto at = fake::real().regions.find(lkey);
  return at != fake::real().regions.end() && at->second.data() <= memory.data() &&
         at->second.data() + at->second.size() >= memory.data() + memory.size();
}

/// Whether the kernel reports unmapped memory here; if not, prints that the test is skipped.
bool can_watch(scene& s) {
  if (s.cache->guarantee() == registration_guarantee::watched) return true;
  WARN(
      "skipped: userfaultfd is not available to this process (kernel.unprivileged_userfaultfd, a seccomp "
      "filter, "
      "or a kernel without its events); the cache falls back to a registration for each operation");
  CHECK(s.cache->guarantee() == registration_guarantee::per_operation);
  return false;
}

}  // namespace

TEST_CASE("remote atomic access is requested only from devices that have it", "[fake]") {
  for (const bool has_atomics : {true, false}) {
    fake::real() = {.devices = {fake::infiniband("fake0")}};
    fake::real().devices[0].atomics = has_atomics ? IBV_ATOMIC_HCA : IBV_ATOMIC_NONE;
    const std::vector<const chorale::verbs::driver*> drivers{&fake::real_driver()};
    const auto device = chorale::verbs::device::open("fake0", drivers);
    const chorale::verbs::protection_domain domain{device};
    registration_cache cache{domain, chorale::config{}, true, device.remote_access()};
    std::vector<std::byte> memory(100);
    static_cast<void>(cache.find(memory, rights::remote));
    CHECK((fake::real().registered_access & IBV_ACCESS_REMOTE_WRITE) != 0);
    CHECK(((fake::real().registered_access & IBV_ACCESS_REMOTE_ATOMIC) != 0) == has_atomics);
  }
}

TEST_CASE("memory is registered once, in whole pages, and found again", "[registration]") {
  scene s = cached();
  CHECK(s.cache->guarantee() == registration_guarantee::by_address);
  const auto memory = map(4);
  auto first = s.cache->find(memory.subspan(100, 2 * page), rights::remote);
  CHECK(made() == 1);
  CHECK(covers(first.lkey(), memory.first(3 * page)));
  CHECK(first.rkey() != first.lkey());
  const auto inside = s.cache->find(memory.subspan(page, 1), rights::remote);
  CHECK(inside.lkey() == first.lkey());
  // Existing registrations have enough rights for a source; the reverse does not hold.
  CHECK(s.cache->find(memory.first(10), rights::read).lkey() == first.lkey());
  CHECK(made() == 1);
  const auto other = s.cache->find(memory.last(page), rights::read);
  CHECK(made() == 2);
  CHECK(s.cache->find(memory.last(page), rights::remote).lkey() != other.lkey());
  CHECK(made() == 3);
  CHECK_FALSE(s.cache->find({}, rights::remote));
  const auto counts = s.cache->statistics();
  CHECK(counts.hits == 2);
  CHECK(counts.misses == 3);
  CHECK(counts.entries == 3);
  CHECK(counts.bytes == 5 * page);
  munmap(memory.data(), memory.size());
}

TEST_CASE("a larger registration replaces those that it covers", "[registration]") {
  scene s = cached();
  const auto memory = map(8);
  const auto kept = s.cache->find(memory.subspan(2 * page, page), rights::remote);
  static_cast<void>(s.cache->find(memory.subspan(5 * page, page), rights::remote));
  const auto all = s.cache->find(memory, rights::remote);
  // One is still in use, so it must stay registered until it no longer is.
  CHECK(alive(kept.lkey()));
  CHECK(fake::real().live["mr"] == 2);
  CHECK(s.cache->statistics().entries == 1);
  CHECK(s.cache->find(memory.subspan(2 * page, page), rights::remote).lkey() == all.lkey());
  munmap(memory.data(), memory.size());
}

TEST_CASE("the bounds hold by evicting the least recently used, except registrations in use",
          "[registration]") {
  SECTION("entries") {
    scene s{chorale::registration_policy::automatic, true, 3};
    const auto memory = map(10);
    const auto use = [&](std::size_t i) {
      return s.cache->find(memory.subspan(i * 2 * page, 1), rights::remote);
    };
    for (std::size_t i = 0; i < 3; ++i) static_cast<void>(use(i));
    static_cast<void>(use(0));
    static_cast<void>(use(3));  // replaces 1
    CHECK(s.cache->statistics().evictions == 1);
    const auto before = made();
    static_cast<void>(use(0));
    static_cast<void>(use(2));
    CHECK(made() == before);
    static_cast<void>(use(1));
    CHECK(made() == before + 1);
    munmap(memory.data(), memory.size());
  }
  SECTION("bytes") {
    scene s{chorale::registration_policy::automatic, true, 100, 4 * page};
    const auto memory = map(20);
    auto held = s.cache->find(memory.first(3 * page), rights::remote);
    auto second = s.cache->find(memory.subspan(4 * page, 3 * page), rights::remote);
    CHECK(s.cache->statistics().evictions == 0);
    CHECK(s.cache->statistics().bytes == 6 * page);
    const auto key = second.lkey();
    second = {};
    static_cast<void>(s.cache->find(memory.subspan(10 * page, page), rights::remote));
    CHECK_FALSE(alive(key));
    CHECK(alive(held.lkey()));
    CHECK(s.cache->statistics().evictions == 1);
    munmap(memory.data(), memory.size());
  }
  SECTION("the system's own bound") {
    scene s = cached();
    const auto memory = map(4);
    static_cast<void>(s.cache->find(memory.first(page), rights::remote));
    fake::real().failures["reg_mr"] = ENOMEM;
    CHECK_THROWS_AS(s.cache->find(memory.last(page), rights::remote), chorale::error);
    // Registrations that were not in use were evicted first.
    CHECK(fake::real().live["mr"] == 0);
    fake::real().failures["reg_mr"] = EFAULT;
    CHECK_THROWS_AS(s.cache->find(memory.last(page), rights::remote), chorale::error);
    fake::real().failures.clear();
    CHECK(s.cache->find(memory.last(page), rights::remote));
    CHECK(s.cache->statistics().entries == 1);
    munmap(memory.data(), memory.size());
  }
}

#ifdef UFFD_USER_MODE_ONLY
TEST_CASE("where the kernel does not report unmapped memory, no registration is kept", "[registration]") {
  if (support::threads_watched) {
    WARN("skipped: ThreadSanitizer cannot start threads in the forked child of a process with threads");
    return;
  }
  constexpr int no_filters = 100;
  const auto guarantee_under = [&](auto&& filter) {
    return support::in_child([&] {
      if (filter() != 0) return no_filters;
      chorale::config c;
      c.registration = chorale::registration_policy::watched;
      return static_cast<int>(registration_cache::guarantee_with(c, false));
    });
  };
  const int denied = guarantee_under([] { return robustness::forbid({SYS_userfaultfd}, EPERM); });
  if (denied != no_filters) CHECK(denied == static_cast<int>(registration_guarantee::per_operation));
  const bool may_without = support::in_child([] { return syscall(SYS_userfaultfd, 0) < 0 ? 1 : 0; }) == 0;
  if (denied == no_filters || !may_without) {
    WARN("skipped: no seccomp filter, or no userfaultfd() without the flag that old kernels do not know");
    return;
  }
  // As in kernels before 5.11.
  CHECK(guarantee_under([] {
          return robustness::forbid_with(SYS_userfaultfd, UFFD_USER_MODE_ONLY, EINVAL);
        }) == static_cast<int>(registration_guarantee::watched));
}
#endif

TEST_CASE("registrations end with the operation if nothing else is safe", "[registration]") {
  scene s{chorale::registration_policy::per_operation, true};
  CHECK(s.cache->guarantee() == registration_guarantee::per_operation);
  const auto memory = map(2);
  {
    const auto one = s.cache->find(memory, rights::remote);
    CHECK(alive(one.lkey()));
    CHECK(s.cache->find(memory, rights::remote).lkey() == one.lkey());
  }
  CHECK(fake::real().live["mr"] == 0);
  static_cast<void>(s.cache->find(memory, rights::remote));
  CHECK(made() == 2);
  munmap(memory.data(), memory.size());
}

TEST_CASE("memory freed by a device is dropped from all caches", "[registration]") {
  scene s = cached();
  registration_cache another{*s.domain, chorale::config{}, true, IBV_ACCESS_REMOTE_WRITE};
  const auto memory = map(6);
  const auto in_use = s.cache->find(memory.first(page), rights::remote);
  const auto here = s.cache->find(memory.subspan(2 * page, page), rights::remote).lkey();
  const auto there = another.find(memory.subspan(2 * page, page), rights::remote).lkey();
  const auto beyond = s.cache->find(memory.last(page), rights::remote).lkey();
  s.cache->forget(memory.data(), 3 * page);
  CHECK_FALSE(alive(here));
  CHECK(alive(in_use.lkey()));
  CHECK(alive(beyond));
  CHECK(s.cache->find(memory.first(page), rights::remote).lkey() != in_use.lkey());
  CHECK(another.find(memory.subspan(2 * page, page), rights::remote).lkey() != there);
  CHECK_FALSE(alive(there));
  // More ranges at once than are remembered: then no registration is trusted.
  const auto last = another.find(memory.last(page), rights::remote).lkey();
  for (int i = 0; i < 3000; ++i) s.cache->forget(memory.data(), 1);
  CHECK(another.find(memory.last(page), rights::remote).lkey() != last);
  munmap(memory.data(), memory.size());
}

TEST_CASE("memory that was unmapped, moved or emptied is registered anew", "[registration][watched]") {
  scene s{chorale::registration_policy::watched, true};
  if (!can_watch(s)) return;
  auto memory = map(8);
  const auto key = [&] { return s.cache->find(memory.subspan(page, 3 * page), rights::remote).lkey(); };
  const auto before = key();
  CHECK(key() == before);
  SECTION("munmap, and other pages at the same address") {
    munmap(memory.data(), memory.size());
    memory = map(8, memory.data());
  }
  SECTION("a part of it") {
    munmap(memory.data() + 2 * page, page);
    map(1, memory.data() + 2 * page);
  }
  SECTION("other pages mapped over it") {
    map(8, memory.data());
  }
  SECTION("mremap, and other pages at the old address") {
    // Watching splits a mapping, and the system moves one piece at a time.
    const auto piece = memory.subspan(page, 3 * page);
    void* moved =
        mremap(piece.data(), piece.size(), piece.size(), MREMAP_MAYMOVE | MREMAP_FIXED, map(3).data());
    REQUIRE(moved != MAP_FAILED);
    map(3, piece.data());
    munmap(moved, piece.size());
  }
  SECTION("madvise(MADV_DONTNEED)") {
    REQUIRE(madvise(memory.data(), memory.size(), MADV_DONTNEED) == 0);
  }
  SECTION("by another thread") {
    std::thread{[&] {
      munmap(memory.data(), memory.size());
      memory = map(8, memory.data());
    }}.join();
  }
  const auto after = key();
  CHECK(after != before);
  // Deregistered before the new one was created; otherwise the two could not be distinguished.
  CHECK_FALSE(alive(before));
  CHECK(alive(after));
  CHECK(s.cache->statistics().invalidations == 1);
  CHECK(key() == after);
  // Unmapping other memory has no effect.
  munmap(map(3).data(), 3 * page);
  CHECK(key() == after);
  munmap(memory.data(), memory.size());
}

TEST_CASE("a child that writes, unmaps and exits disturbs no registration", "[registration][watched]") {
  scene s{chorale::registration_policy::watched, true};
  if (!can_watch(s)) return;
  const auto memory = map(4);
  const auto before = s.cache->find(memory, rights::remote).lkey();
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      std::fill(memory.begin(), memory.end(), std::byte{9});
      munmap(memory.data(), memory.size());
      _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(s.cache->find(memory, rights::remote).lkey() == before);
    CHECK(memory[5] == std::byte{1});
  }
  munmap(memory.data(), memory.size());
  map(4, memory.data());
  CHECK(s.cache->find(memory, rights::remote).lkey() != before);
  munmap(memory.data(), memory.size());
}

TEST_CASE("a watched allocator does not wait for its watcher", "[registration][watched]") {
  scene s{chorale::registration_policy::watched, true, 64};
  if (!can_watch(s)) return;
  // malloc itself maps and unmaps large blocks, some of them while the cache drops registrations.
  std::mt19937_64 chance{seed()};
  std::vector<std::vector<std::byte>> blocks(16);
  std::uint64_t stale = 0;
  for (int i = 0; i < 4000; ++i) {
    auto& block = blocks[chance() % blocks.size()];
    if (chance() % 2 == 0) std::vector<std::byte>(4096 + chance() % 1'000'000).swap(block);
    if (block.empty()) continue;
    const auto h = s.cache->find(block, chance() % 2 == 0 ? rights::remote : rights::read);
    stale += covers(h.lkey(), block) ? 0 : 1;
  }
  CHECK(stale == 0);
  if (!support::instrumented) CHECK(s.cache->statistics().invalidations > 0);
  CHECK(s.cache->statistics().entries <= 64);
}

TEST_CASE("random use of the cache against a model of what is mapped", "[registration][watched]") {
  scene s{chorale::registration_policy::watched, true, 20, 60 * page};
  if (!can_watch(s)) return;
  std::mt19937_64 chance{seed()};
  constexpr std::size_t pages = 64;
  const auto area = map(pages);
  // The time at which each page was mapped, and that of each registration.
  std::vector<std::uint64_t> mapped(pages, 0);
  std::map<std::uint32_t, std::uint64_t> registered;
  std::uint64_t wrong = 0;
  for (std::uint64_t now = 1; now < 5000; ++now) {
    const std::size_t first = chance() % pages;
    const std::size_t count = 1 + chance() % std::min<std::size_t>(pages - first, 12);
    const auto part = area.subspan(first * page, count * page);
    if (chance() % 4 == 0) {
      munmap(part.data(), part.size());
      map(count, part.data());
      std::fill_n(mapped.begin() + static_cast<std::ptrdiff_t>(first), count, now);
    } else {
      const auto h = s.cache->find(part, chance() % 2 == 0 ? rights::remote : rights::read);
      const auto since = registered.try_emplace(h.lkey(), now).first->second;
      wrong += covers(h.lkey(), part) ? 0 : 1;
      for (std::size_t p = first; p < first + count; ++p) wrong += mapped[p] > since ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
  CHECK(s.cache->statistics().hits > 0);
  munmap(area.data(), area.size());
}
