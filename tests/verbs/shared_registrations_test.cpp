// SPDX-License-Identifier: Apache-2.0
// Registrations that the caches of a process share: per device, among caches with the same settings; what
// their process shares with its children.
#include <cstddef>
#include <optional>
#include <signal.h>
#include <span>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/transport/memory/registration_cache.hpp>
#include <chorale/verbs/device.hpp>
#include <chorale/verbs/protection_domain.hpp>

#include "fake_driver.hpp"

using namespace chorale::transport;
using rights = registration_cache::rights;

TEST_CASE("caches of a protection domain share registrations if their settings agree", "[registration]") {
  constexpr std::size_t piece = 65536;  // a page, or several, on any machine
  fake::real() = {.devices = {fake::infiniband("fake0")}};
  const std::vector<const chorale::verbs::driver*> drivers{&fake::real_driver()};
  const auto device = chorale::verbs::device::open("fake0", drivers);
  const chorale::verbs::protection_domain domain{device};
  const chorale::verbs::protection_domain elsewhere{device};
  const auto made = [&](const chorale::verbs::protection_domain& on, std::size_t entries = 256) {
    chorale::config c;
    c.registration_entries = entries;
    return std::optional<registration_cache>{std::in_place, on, c, true, device.remote_access()};
  };
  auto one = made(domain);
  auto other = made(domain);
  const auto fewer = made(domain, 100);
  const auto apart = made(elsewhere);
  void* const pages = device.allocate(8 * piece);
  const std::span<std::byte> memory{static_cast<std::byte*>(pages), 8 * piece};

  const auto key = one->find(memory.first(2 * piece), rights::remote).lkey();
  CHECK(other->find(memory.first(piece), rights::remote).lkey() == key);
  CHECK(fake::real().registrations == 1);
  CHECK(one->statistics().misses == 1);
  CHECK((other->statistics().misses == 0 && other->statistics().hits == 1));
  CHECK(other->statistics().entries == 1);
  CHECK((fewer->statistics().entries == 0 && apart->statistics().entries == 0));

  // Each in its own thread.
  const auto use = [&](registration_cache& cache, std::size_t from) {
    for (std::size_t i = 0; i < 2000; ++i) {
      const auto held = cache.find(memory.subspan((from + i) % 8 * piece, piece), rights::remote);
      if (i % 64 == from) cache.forget(memory.data(), piece);
    }
  };
  std::thread beside{[&] { use(*other, 3); }};
  use(*one, 1);
  beside.join();
  CHECK(one->statistics().hits + one->statistics().misses == 2001);
  // The first to end removes no registration that the other may use.
  other.reset();
  const auto held = one->find(memory.last(piece), rights::remote);
  one->forget(memory.data(), memory.size());
  CHECK(fake::real().live["mr"] == 1);
  CHECK(fake::real().regions.contains(held.lkey()));
  device.release(pages, 8 * piece);
}

TEST_CASE("a child that lives longer than the cache does not stop its parent", "[registration][watched]") {
  const auto with_cache = [](auto&& use) {
    fake::real() = {.devices = {fake::infiniband("fake0")}};
    const std::vector<const chorale::verbs::driver*> drivers{&fake::real_driver()};
    const auto device = chorale::verbs::device::open("fake0", drivers);
    const chorale::verbs::protection_domain domain{device};
    chorale::config c;
    c.registration = chorale::registration_policy::watched;
    registration_cache cache{domain, c, true, device.remote_access()};
    return use(cache);
  };
  if (with_cache([](auto& cache) { return cache.guarantee(); }) !=
      chorale::transport::registration_guarantee::watched) {
    WARN("skipped: userfaultfd is not available to this process");
    return;
  }
  // In a process of its own, which can be killed if it waits for ever in munmap().
  const pid_t user = fork();
  REQUIRE(user >= 0);
  if (user == 0) {
    constexpr std::size_t bytes = 65536;
    void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const pid_t child = with_cache([&](auto& cache) {
      static_cast<void>(cache.find({static_cast<std::byte*>(pages), bytes}, rights::remote));
      const pid_t forked = fork();
      if (forked == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) pause();
      }
      return forked;
    });
    munmap(pages, bytes);
    kill(child, SIGKILL);
    _exit(child > 0 ? 0 : 1);
  }
  int status = -1;
  for (int i = 0; i < 6000 && waitpid(user, &status, WNOHANG) == 0; ++i) usleep(10'000);
  if (status == -1) {
    kill(user, SIGKILL);
    waitpid(user, nullptr, 0);
  }
  CHECK(status == 0);
}
