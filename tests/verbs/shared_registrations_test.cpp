// SPDX-License-Identifier: Apache-2.0
// Registrations that the caches of a process share: per device, among caches with the same settings.
#include <cstddef>
#include <optional>
#include <span>
#include <thread>
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
