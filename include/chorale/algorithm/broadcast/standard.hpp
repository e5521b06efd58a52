// The broadcast that a communicator has if none is chosen.
#pragma once

#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/broadcast/binomial.hpp>
#include <chorale/algorithm/broadcast/chain.hpp>
#include <chorale/algorithm/broadcast/fetch.hpp>
#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/algorithm/broadcast/last_arriver.hpp>
#include <chorale/algorithm/broadcast/scatter_allgather.hpp>

namespace chorale::broadcast {

/// The fastest by the tuning table.
struct standard
    : automatic<binomial, flat, chain, scatter_allgather, binomial_store_and_forward, fetch, last_arriver> {};

}  // namespace chorale::broadcast
