// Everything: the communicator, the transports and the algorithms.
#pragma once

// IWYU pragma: begin_exports
#include <chorale/algorithm/allgather/ring.hpp>
#include <chorale/algorithm/allreduce/degree_k.hpp>
#include <chorale/algorithm/allreduce/rabenseifner.hpp>
#include <chorale/algorithm/allreduce/rank_by_rank.hpp>
#include <chorale/algorithm/allreduce/recursive_doubling.hpp>
#include <chorale/algorithm/allreduce/reproducible.hpp>
#include <chorale/algorithm/allreduce/ring.hpp>
#include <chorale/algorithm/allreduce/standard.hpp>
#include <chorale/algorithm/alltoall/pairwise.hpp>
#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/barrier/central.hpp>
#include <chorale/algorithm/barrier/dissemination.hpp>
#include <chorale/algorithm/barrier/dissemination_k.hpp>
#include <chorale/algorithm/barrier/pairwise_exchange.hpp>
#include <chorale/algorithm/barrier/standard.hpp>
#include <chorale/algorithm/broadcast/binomial.hpp>
#include <chorale/algorithm/broadcast/chain.hpp>
#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/algorithm/broadcast/scatter_allgather.hpp>
#include <chorale/algorithm/broadcast/standard.hpp>
#include <chorale/algorithm/gather/flat.hpp>
#include <chorale/algorithm/reduce/degree_k.hpp>
#include <chorale/algorithm/reduce/reproducible.hpp>
#include <chorale/algorithm/reduce/standard.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>
#include <chorale/algorithm/reduce_scatter/recursive_halving.hpp>
#include <chorale/algorithm/scan/recursive_doubling.hpp>
#include <chorale/algorithm/scatter/flat.hpp>
#include <chorale/bootstrap/in_process.hpp>
#include <chorale/bootstrap/pmix.hpp>
#include <chorale/communicator.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/operators.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/core/type_name.hpp>
#include <chorale/model/tuning.hpp>
#include <chorale/request.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>
// IWYU pragma: end_exports
