// The heap memory of a simulation.
#pragma once

#include <cstddef>

namespace sim_scale {

/// Peak size in bytes of this program's heap since the last call. Counted by its own operators new and
/// delete, since the operating system only knows the peak over the whole run. One thread.
[[nodiscard]] std::size_t take_peak_of_heap() noexcept;

}  // namespace sim_scale
