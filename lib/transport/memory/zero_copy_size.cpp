// SPDX-License-Identifier: Apache-2.0
#include "zero_copy_size.hpp"

#include <algorithm>
#include <cstddef>

#include <chorale/transport/memory/registration_cache.hpp>

namespace chorale::transport {

std::uint8_t zero_copy_kib(const device_port& port, const config& settings) {
  if (settings.zero_copy_bytes) return 0;
  // A registration for each message costs tens of microseconds, and more for each page.
  constexpr std::size_t worth_registering = 255;
  const bool registers_each =
      registration_cache::guarantee_with(settings, port.device().provider().finds_by_address) ==
      registration_guarantee::per_operation;
  const std::size_t measured = (port.device().zero_copy_from() + 1023) / 1024;
  const bool waits_for_registering = !port.device().copies_by_core() && registers_each;
  return static_cast<std::uint8_t>(waits_for_registering ? worth_registering
                                                         : std::min(measured, std::size_t{255}));
}

}  // namespace chorale::transport
