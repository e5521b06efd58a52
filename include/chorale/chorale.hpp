// Everything: the communicator, the transports and the algorithms.
#pragma once

// IWYU pragma: begin_exports
#include <chorale/algorithm/allreduce/degree_k.hpp>
#include <chorale/algorithm/allreduce/rank_by_rank.hpp>
#include <chorale/algorithm/allreduce/recursive_doubling.hpp>
#include <chorale/algorithm/allreduce/standard.hpp>
#include <chorale/algorithm/barrier/central.hpp>
#include <chorale/algorithm/barrier/dissemination.hpp>
#include <chorale/algorithm/barrier/pairwise_exchange.hpp>
#include <chorale/algorithm/barrier/standard.hpp>
#include <chorale/algorithm/broadcast/binomial.hpp>
#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/algorithm/reduce/degree_k.hpp>
#include <chorale/bootstrap/in_process.hpp>
#include <chorale/bootstrap/pmix.hpp>
#include <chorale/communicator.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/operators.hpp>
#include <chorale/request.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>
// IWYU pragma: end_exports
