// SPDX-License-Identifier: Apache-2.0
// All topologies.
#pragma once

#include <chorale/topology/all_pairs.hpp>
#include <chorale/topology/binomial.hpp>
#include <chorale/topology/bruck.hpp>
#include <chorale/topology/chain.hpp>
#include <chorale/topology/circulant.hpp>
#include <chorale/topology/degree_k.hpp>
#include <chorale/topology/dissemination.hpp>
#include <chorale/topology/dissemination_k.hpp>
#include <chorale/topology/gather_tree.hpp>
#include <chorale/topology/knomial.hpp>
#include <chorale/topology/pairwise_exchange.hpp>
#include <chorale/topology/recursive_doubling.hpp>
#include <chorale/topology/recursive_multiplying.hpp>
#include <chorale/topology/ring.hpp>
#include <chorale/topology/star.hpp>
