// SPDX-License-Identifier: Apache-2.0
// The default scan of a communicator.
#pragma once

#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/broadcast/binomial.hpp>
#include <chorale/algorithm/scan/by_shares.hpp>
#include <chorale/algorithm/scan/chain.hpp>
#include <chorale/algorithm/scan/recursive_doubling.hpp>
#include <chorale/algorithm/scan/two_level.hpp>

namespace chorale::scan {

/// The fastest of these, chosen by `automatic`.
struct standard : automatic<recursive_doubling, chain, by_shares,
                            two_level<chain, recursive_doubling, broadcast::binomial>> {};

}  // namespace chorale::scan
