// The scan that a communicator has if none is chosen.
#pragma once

#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/scan/by_shares.hpp>
#include <chorale/algorithm/scan/chain.hpp>
#include <chorale/algorithm/scan/recursive_doubling.hpp>

namespace chorale::scan {

/// The fastest by the tuning table.
struct standard : automatic<recursive_doubling, chain, by_shares> {};

}  // namespace chorale::scan
