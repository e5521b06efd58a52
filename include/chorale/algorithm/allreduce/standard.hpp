// The allreduce that a communicator has if none is chosen.
#pragma once

#include <chorale/algorithm/allreduce/degree_k.hpp>
#include <chorale/algorithm/allreduce/last_arriver.hpp>
#include <chorale/algorithm/allreduce/rabenseifner.hpp>
#include <chorale/algorithm/allreduce/recursive_doubling.hpp>
#include <chorale/algorithm/allreduce/reproducible.hpp>
#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/broadcast/flat.hpp>

namespace chorale::allreduce {

/// The fastest by the tuning table. All of them evaluate in rank order, each in a tree of its own, so that
/// the bits of rounded results depend on the size of the group and of the message; `reproducible` is for
/// those to whom that matters.
struct standard : automatic<recursive_doubling, degree_k<1>, degree_k<3>, degree_k<7>,
                            degree_k<15, broadcast::flat>, rabenseifner, reproducible, last_arriver> {};

}  // namespace chorale::allreduce
