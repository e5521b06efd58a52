// The reduce that a communicator has if none is chosen.
#pragma once

#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/reduce/degree_k.hpp>
#include <chorale/algorithm/reduce/reproducible.hpp>
#include <chorale/algorithm/reduce/scatter_gather.hpp>

namespace chorale::reduce {

/// The fastest by the tuning table. All of them evaluate in rank order.
struct standard
    : automatic<degree_k<3>, degree_k<1>, degree_k<7>, degree_k<15>, reproducible, scatter_gather> {};

}  // namespace chorale::reduce
