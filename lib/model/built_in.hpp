// SPDX-License-Identifier: Apache-2.0
// The built-in measurements.
#pragma once

#include <string_view>
#include <vector>

#include <chorale/model/tuning.hpp>

namespace chorale::model {

/// Parses lines "operation transport ranks crowded bytes {algorithm microseconds}...", in which names of
/// algorithms have no spaces.
[[nodiscard]] std::vector<measurement> measurements_of(std::string_view rows);

/// Rows of soft0.
[[nodiscard]] std::string_view soft_rows() noexcept;
/// Rows of a simulated cluster, with one rank per core.
[[nodiscard]] std::string_view simulated_rows() noexcept;

}  // namespace chorale::model
