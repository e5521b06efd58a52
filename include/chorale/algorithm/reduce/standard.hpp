// SPDX-License-Identifier: Apache-2.0
// The default reduce of a communicator.
#pragma once

#include <chorale/algorithm/allreduce/last_arriver.hpp>
#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/reduce/degree_k.hpp>
#include <chorale/algorithm/reduce/reproducible.hpp>
#include <chorale/algorithm/reduce/scatter_gather.hpp>
#include <chorale/algorithm/reduce/two_level.hpp>

namespace chorale::reduce {

/// The fastest of these, chosen by `automatic`. All evaluate in rank order.
struct standard : automatic<degree_k<3>, degree_k<1>, degree_k<7>, degree_k<15>, reproducible, scatter_gather,
                            two_level<allreduce::last_arriver, degree_k<3>>> {};

}  // namespace chorale::reduce
