// SPDX-License-Identifier: Apache-2.0
// The default scatter of a communicator.
#pragma once

#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/scatter/binomial.hpp>
#include <chorale/algorithm/scatter/fetch.hpp>
#include <chorale/algorithm/scatter/flat.hpp>

namespace chorale::scatter {

/// The fastest of these, chosen by `automatic`. Uneven blocks use `flat`.
struct standard : automatic<binomial, flat, fetch> {};

}  // namespace chorale::scatter
