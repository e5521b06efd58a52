// SPDX-License-Identifier: Apache-2.0
// The measurements that the library is built with.
#pragma once

#include <string_view>
#include <vector>

#include <chorale/model/tuning.hpp>

namespace chorale::model {

/// Of lines "operation transport ranks crowded bytes {algorithm microseconds}...", in which no name of an
/// algorithm has a space.
[[nodiscard]] std::vector<measurement> measurements_of(std::string_view rows);

/// Rows of soft0.
[[nodiscard]] std::string_view soft_rows() noexcept;
/// Rows of a simulated cluster, all of one rank a core.
[[nodiscard]] std::string_view simulated_rows() noexcept;

}  // namespace chorale::model
