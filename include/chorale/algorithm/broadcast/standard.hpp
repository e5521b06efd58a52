// SPDX-License-Identifier: Apache-2.0
// The default broadcast of a communicator.
#pragma once

#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/broadcast/binomial.hpp>
#include <chorale/algorithm/broadcast/chain.hpp>
#include <chorale/algorithm/broadcast/fetch.hpp>
#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/algorithm/broadcast/knomial.hpp>
#include <chorale/algorithm/broadcast/last_arriver.hpp>
#include <chorale/algorithm/broadcast/multi_object.hpp>
#include <chorale/algorithm/broadcast/scatter_allgather.hpp>
#include <chorale/algorithm/broadcast/two_level.hpp>
#include <chorale/algorithm/through_blocks.hpp>

namespace chorale::broadcast {

/// The fastest of these, chosen by `automatic`.
struct standard : automatic<binomial, flat, chain, scatter_allgather, binomial_store_and_forward, fetch,
                            last_arriver, knomial<4>, multi_object<knomial<3>>,
                            two_level<last_arriver, knomial<4>>, through_blocks<flat>> {};

}  // namespace chorale::broadcast
