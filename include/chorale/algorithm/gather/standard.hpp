// SPDX-License-Identifier: Apache-2.0
// The default gather of a communicator.
#pragma once

#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/gather/binomial.hpp>
#include <chorale/algorithm/gather/flat.hpp>
#include <chorale/algorithm/gather/two_level.hpp>
#include <chorale/algorithm/through_blocks.hpp>

namespace chorale::gather {

/// The fastest of these, chosen by `automatic`. Uneven blocks use `by_place`.
struct standard : automatic<binomial, flat, two_level<flat, flat>, through_blocks<flat>> {};

}  // namespace chorale::gather
