// How much memory a simulation takes.
#pragma once

#include <cstddef>

namespace sim_scale {

/// Bytes that the heap of this program has had at most since this was called last. Counted by operators new
/// and delete of its own, since the operating system knows the peak of the whole process alone. One thread.
[[nodiscard]] std::size_t take_peak_of_heap() noexcept;

}  // namespace sim_scale
