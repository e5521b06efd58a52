// SPDX-License-Identifier: Apache-2.0
// Random numbers from the system or from a simulation.
#pragma once

#include <cstdint>

namespace chorale {

/// An unpredictable number; in a simulation determined by the seed. @throws error errc::unsupported if the
/// system provides none.
[[nodiscard]] std::uint64_t unguessable_word();

}  // namespace chorale
