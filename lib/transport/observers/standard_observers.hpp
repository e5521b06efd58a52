// The library's own observers, as settings ask for them.
#pragma once

#include <memory>
#include <vector>

#include <chorale/core/config.hpp>
#include <chorale/transport/observers/observer.hpp>

namespace chorale::transport {

/// Counter, log and trace of a communicator, those that are asked for. @throws error if the trace cannot be
/// begun.
[[nodiscard]] std::vector<std::shared_ptr<observer>> standard_observers(const config& settings,
                                                                        const observed_communicator& who);

/// @throws error errc::invalid_environment if a file that they are to write cannot be.
void require_places(const config& settings);

}  // namespace chorale::transport
