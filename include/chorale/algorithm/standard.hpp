// SPDX-License-Identifier: Apache-2.0
// The default algorithms of a communicator, and their substitutes.
#pragma once

// IWYU pragma: begin_exports
#include <chorale/algorithm/allgather/direct.hpp>
#include <chorale/algorithm/allgather/ring.hpp>
#include <chorale/algorithm/allgather/standard.hpp>
#include <chorale/algorithm/allreduce/rank_by_rank.hpp>
#include <chorale/algorithm/allreduce/standard.hpp>
#include <chorale/algorithm/alltoall/pairwise.hpp>
#include <chorale/algorithm/alltoall/standard.hpp>
#include <chorale/algorithm/barrier/standard.hpp>
#include <chorale/algorithm/broadcast/standard.hpp>
#include <chorale/algorithm/exchange/direct.hpp>
#include <chorale/algorithm/gather/by_place.hpp>
#include <chorale/algorithm/gather/standard.hpp>
#include <chorale/algorithm/reduce/rank_by_rank.hpp>
#include <chorale/algorithm/reduce/standard.hpp>
#include <chorale/algorithm/reduce_scatter/rank_by_rank.hpp>
#include <chorale/algorithm/reduce_scatter/standard.hpp>
#include <chorale/algorithm/scan/standard.hpp>
#include <chorale/algorithm/scatter/by_place.hpp>
#include <chorale/algorithm/scatter/standard.hpp>
// IWYU pragma: end_exports
