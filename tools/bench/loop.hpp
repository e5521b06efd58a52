// SPDX-License-Identifier: Apache-2.0
// The loop, statistics and calls of <chorale/bench/...>, which other programs may use as well.
#pragma once

#include <chorale/bench/aligned_floats.hpp>
#include <chorale/bench/measure.hpp>
#include <chorale/bench/plan.hpp>
#include <chorale/bench/statistics.hpp>

namespace bench {
using namespace chorale::bench;
}
