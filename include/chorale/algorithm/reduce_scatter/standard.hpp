// SPDX-License-Identifier: Apache-2.0
// The default reduce-scatter of a communicator.
#pragma once

#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/reduce/degree_k.hpp>
#include <chorale/algorithm/reduce_scatter/circulant.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>
#include <chorale/algorithm/reduce_scatter/last_arriver.hpp>
#include <chorale/algorithm/reduce_scatter/recursive_halving.hpp>
#include <chorale/algorithm/reduce_scatter/two_level.hpp>
#include <chorale/algorithm/scatter/flat.hpp>

namespace chorale::reduce_scatter {

/// The fastest of these, chosen by `automatic`. Results whose bits depend on the order are combined from rank
/// 0 upwards, by `direct` or `last_arriver`, so the bits do not depend on the choice.
struct standard : automatic<direct, last_arriver, recursive_halving, circulant,
                            two_level<reduce::degree_k<3>, direct, scatter::flat>> {};

}  // namespace chorale::reduce_scatter
