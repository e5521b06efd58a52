// SPDX-License-Identifier: Apache-2.0
// The default scatter of a communicator.
#pragma once

#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/scatter/binomial.hpp>
#include <chorale/algorithm/scatter/fetch.hpp>
#include <chorale/algorithm/scatter/flat.hpp>
#include <chorale/algorithm/scatter/two_level.hpp>
#include <chorale/algorithm/through_blocks.hpp>

namespace chorale::scatter {

/// The fastest of these, chosen by `automatic`. Uneven blocks use `by_place`.
struct standard : automatic<binomial, flat, fetch, two_level<flat, flat>, through_blocks<flat>> {};

}  // namespace chorale::scatter
