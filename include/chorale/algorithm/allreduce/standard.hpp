// SPDX-License-Identifier: Apache-2.0
// The default allreduce of a communicator.
#pragma once

#include <chorale/algorithm/allgather/direct.hpp>
#include <chorale/algorithm/allgather/last_arriver.hpp>
#include <chorale/algorithm/allreduce/degree_k.hpp>
#include <chorale/algorithm/allreduce/last_arriver.hpp>
#include <chorale/algorithm/allreduce/multi_object.hpp>
#include <chorale/algorithm/allreduce/rabenseifner.hpp>
#include <chorale/algorithm/allreduce/recursive_doubling.hpp>
#include <chorale/algorithm/allreduce/recursive_multiplying.hpp>
#include <chorale/algorithm/allreduce/reproducible.hpp>
#include <chorale/algorithm/allreduce/split_level.hpp>
#include <chorale/algorithm/allreduce/two_level.hpp>
#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/broadcast/binomial.hpp>
#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/algorithm/broadcast/last_arriver.hpp>
#include <chorale/algorithm/reduce/degree_k.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>

namespace chorale::allreduce {

/// The fastest of these, chosen by `automatic`. All evaluate in rank order, but with different bracketing, so
/// the bits of rounded results depend on the sizes of the group, its places and the message. Use
/// `reproducible` if that matters.
struct standard
    : automatic<recursive_doubling, degree_k<1>, degree_k<3>, degree_k<7>, degree_k<15, broadcast::flat>,
                rabenseifner, reproducible, last_arriver, recursive_multiplying<4>, recursive_multiplying<8>,
                multi_object<recursive_multiplying<4>, broadcast::binomial>,
                split_level<reduce_scatter::direct, rabenseifner, allgather::direct>,
                two_level<reduce::degree_k<3>, recursive_multiplying<4>, broadcast::last_arriver>,
                split_level<reduce_scatter::direct, rabenseifner, allgather::last_arriver>> {};

}  // namespace chorale::allreduce
