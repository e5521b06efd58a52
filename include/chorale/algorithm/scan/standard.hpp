// SPDX-License-Identifier: Apache-2.0
// The default scan of a communicator.
#pragma once

#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/scan/by_shares.hpp>
#include <chorale/algorithm/scan/chain.hpp>
#include <chorale/algorithm/scan/recursive_doubling.hpp>

namespace chorale::scan {

/// The fastest of these, chosen by `automatic`.
struct standard : automatic<recursive_doubling, chain, by_shares> {};

}  // namespace chorale::scan
