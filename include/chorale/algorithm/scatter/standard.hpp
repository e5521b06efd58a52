// The scatter that a communicator has if none is chosen.
#pragma once

#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/scatter/binomial.hpp>
#include <chorale/algorithm/scatter/fetch.hpp>
#include <chorale/algorithm/scatter/flat.hpp>

namespace chorale::scatter {

/// The fastest by the tuning table. Uneven blocks go by `flat`.
struct standard : automatic<binomial, flat, fetch> {};

}  // namespace chorale::scatter
