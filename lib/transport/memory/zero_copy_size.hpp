// SPDX-License-Identifier: Apache-2.0
// The size from which this rank would send without copying.
#pragma once

#include <cstdint>

#include <chorale/core/config.hpp>
#include <chorale/transport/wire/device_port.hpp>

namespace chorale::transport {

/// The message size in KiB from which zero copy is faster over that port, as measured, at most 255; 0: the
/// default. If the setting decides, nothing is measured.
[[nodiscard]] std::uint8_t zero_copy_kib(const device_port& port, const config& settings);

}  // namespace chorale::transport
