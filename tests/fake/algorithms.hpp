// Every algorithm of the library; tests/fake/lists_test.cpp reports missing ones.
#pragma once

#include <chorale/algorithm/allgather/bruck.hpp>
#include <chorale/algorithm/allgather/direct.hpp>
#include <chorale/algorithm/allgather/last_arriver.hpp>
#include <chorale/algorithm/allgather/recursive_doubling.hpp>
#include <chorale/algorithm/allgather/ring.hpp>
#include <chorale/algorithm/allgather/standard.hpp>
#include <chorale/algorithm/allreduce/degree_k.hpp>
#include <chorale/algorithm/allreduce/last_arriver.hpp>
#include <chorale/algorithm/allreduce/rabenseifner.hpp>
#include <chorale/algorithm/allreduce/rank_by_rank.hpp>
#include <chorale/algorithm/allreduce/recursive_doubling.hpp>
#include <chorale/algorithm/allreduce/recursive_multiplying.hpp>
#include <chorale/algorithm/allreduce/reduce_multicast.hpp>
#include <chorale/algorithm/allreduce/reproducible.hpp>
#include <chorale/algorithm/allreduce/ring.hpp>
#include <chorale/algorithm/allreduce/standard.hpp>
#include <chorale/algorithm/alltoall/bruck.hpp>
#include <chorale/algorithm/alltoall/direct.hpp>
#include <chorale/algorithm/alltoall/hybrid_pairwise.hpp>
#include <chorale/algorithm/alltoall/last_arriver.hpp>
#include <chorale/algorithm/alltoall/last_arriver_reads.hpp>
#include <chorale/algorithm/alltoall/pairwise.hpp>
#include <chorale/algorithm/alltoall/standard.hpp>
#include <chorale/algorithm/barrier/central.hpp>
#include <chorale/algorithm/barrier/dissemination.hpp>
#include <chorale/algorithm/barrier/dissemination_k.hpp>
#include <chorale/algorithm/barrier/gather_multicast.hpp>
#include <chorale/algorithm/barrier/last_arriver.hpp>
#include <chorale/algorithm/barrier/pairwise_exchange.hpp>
#include <chorale/algorithm/barrier/standard.hpp>
#include <chorale/algorithm/broadcast/binomial.hpp>
#include <chorale/algorithm/broadcast/chain.hpp>
#include <chorale/algorithm/broadcast/fetch.hpp>
#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/algorithm/broadcast/last_arriver.hpp>
#include <chorale/algorithm/broadcast/multicast.hpp>
#include <chorale/algorithm/broadcast/scatter_allgather.hpp>
#include <chorale/algorithm/broadcast/standard.hpp>
#include <chorale/algorithm/exchange/direct.hpp>
#include <chorale/algorithm/gather/binomial.hpp>
#include <chorale/algorithm/gather/flat.hpp>
#include <chorale/algorithm/gather/standard.hpp>
#include <chorale/algorithm/operation_traits.hpp>
#include <chorale/algorithm/reduce/degree_k.hpp>
#include <chorale/algorithm/reduce/rank_by_rank.hpp>
#include <chorale/algorithm/reduce/reproducible.hpp>
#include <chorale/algorithm/reduce/scatter_gather.hpp>
#include <chorale/algorithm/reduce/standard.hpp>
#include <chorale/algorithm/reduce_scatter/circulant.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>
#include <chorale/algorithm/reduce_scatter/last_arriver.hpp>
#include <chorale/algorithm/reduce_scatter/rank_by_rank.hpp>
#include <chorale/algorithm/reduce_scatter/recursive_halving.hpp>
#include <chorale/algorithm/reduce_scatter/standard.hpp>
#include <chorale/algorithm/scan/by_shares.hpp>
#include <chorale/algorithm/scan/chain.hpp>
#include <chorale/algorithm/scan/recursive_doubling.hpp>
#include <chorale/algorithm/scan/standard.hpp>
#include <chorale/algorithm/scatter/binomial.hpp>
#include <chorale/algorithm/scatter/fetch.hpp>
#include <chorale/algorithm/scatter/flat.hpp>
#include <chorale/algorithm/scatter/standard.hpp>

namespace fake {

namespace all {
using namespace chorale;

using moving =
    type_list<barrier::standard, barrier::central, barrier::dissemination, barrier::pairwise_exchange,
              barrier::dissemination_k<3>, barrier::dissemination_k<7>, barrier::gather_multicast<1>,
              barrier::gather_multicast<7>, barrier::last_arriver, broadcast::standard, broadcast::binomial,
              broadcast::binomial_store_and_forward, broadcast::flat, broadcast::chain, broadcast::fetch,
              broadcast::scatter_allgather, broadcast::multicast, allgather::standard, allgather::bruck,
              allgather::direct, allgather::recursive_doubling, allgather::recursive_doubling_at<1000>,
              allgather::ring, allgather::last_arriver, broadcast::last_arriver, alltoall::last_arriver,
              alltoall::last_arriver_reads, alltoall::standard, alltoall::bruck, alltoall::bruck_k<3>,
              alltoall::bruck_k<4>, alltoall::bruck_k<40>, alltoall::direct, alltoall::pairwise,
              alltoall::hybrid_pairwise<2>, gather::standard, gather::binomial, gather::flat,
              scatter::standard, scatter::binomial, scatter::fetch, scatter::flat, exchange::direct>;
using reducing = type_list<
    reduce_scatter::circulant, allreduce::recursive_multiplying<3>, allreduce::recursive_multiplying<4>,  //
    reduce::standard, reduce::degree_k<1>, reduce::degree_k<3>, reduce::degree_k<7>, reduce::degree_k<15>,
    reduce::rank_by_rank, reduce::reproducible, reduce::scatter_gather, allreduce::standard,
    allreduce::recursive_doubling, allreduce::degree_k<1>, allreduce::degree_k<3>, allreduce::degree_k<7>,
    allreduce::degree_k<3, broadcast::flat>, allreduce::degree_k<15, broadcast::flat>,
    allreduce::reduce_multicast<3>, allreduce::reduce_multicast<7>, allreduce::rabenseifner, allreduce::ring,
    allreduce::rank_by_rank, allreduce::reproducible, allreduce::last_arriver, reduce_scatter::standard,
    reduce_scatter::last_arriver, reduce_scatter::direct, reduce_scatter::rank_by_rank,
    reduce_scatter::recursive_halving, scan::standard, scan::by_shares, scan::chain,
    scan::recursive_doubling>;
}  // namespace all

/// The algorithms that move data, and the algorithms that combine operands.
using moving_algorithms = all::moving;
using reducing_algorithms = all::reducing;

}  // namespace fake
