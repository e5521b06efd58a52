// SPDX-License-Identifier: Apache-2.0
// The library's own observers, as the settings request them.
#pragma once

#include <memory>
#include <vector>

#include <chorale/core/config.hpp>
#include <chorale/transport/observers/observer.hpp>

namespace chorale::transport {

/// The counter, log and trace of a communicator, as far as enabled. @throws error if the trace cannot be
/// started.
[[nodiscard]] std::vector<std::shared_ptr<observer>> standard_observers(const config& settings,
                                                                        const observed_communicator& who);

/// @throws error errc::invalid_environment if a file that they would write is not writable.
void require_places(const config& settings);

}  // namespace chorale::transport
