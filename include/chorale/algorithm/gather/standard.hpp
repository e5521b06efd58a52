// The gather that a communicator has if none is chosen.
#pragma once

#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/gather/binomial.hpp>
#include <chorale/algorithm/gather/flat.hpp>

namespace chorale::gather {

/// The fastest by the tuning table. Uneven blocks go by `flat`.
struct standard : automatic<binomial, flat> {};

}  // namespace chorale::gather
