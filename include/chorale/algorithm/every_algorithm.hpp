// SPDX-License-Identifier: Apache-2.0
// The list of all algorithms of the library, which its tests, its benchmark and its simulations use.
#pragma once

// IWYU pragma: begin_exports
#include <chorale/algorithm/allgather/bruck.hpp>
#include <chorale/algorithm/allgather/direct.hpp>
#include <chorale/algorithm/allgather/last_arriver.hpp>
#include <chorale/algorithm/allgather/recursive_doubling.hpp>
#include <chorale/algorithm/allgather/ring.hpp>
#include <chorale/algorithm/allgather/standard.hpp>
#include <chorale/algorithm/allgather/two_level.hpp>
#include <chorale/algorithm/allreduce/degree_k.hpp>
#include <chorale/algorithm/allreduce/last_arriver.hpp>
#include <chorale/algorithm/allreduce/multi_object.hpp>
#include <chorale/algorithm/allreduce/rabenseifner.hpp>
#include <chorale/algorithm/allreduce/rank_by_rank.hpp>
#include <chorale/algorithm/allreduce/recursive_doubling.hpp>
#include <chorale/algorithm/allreduce/recursive_multiplying.hpp>
#include <chorale/algorithm/allreduce/reduce_multicast.hpp>
#include <chorale/algorithm/allreduce/reproducible.hpp>
#include <chorale/algorithm/allreduce/ring.hpp>
#include <chorale/algorithm/allreduce/split_level.hpp>
#include <chorale/algorithm/allreduce/standard.hpp>
#include <chorale/algorithm/allreduce/two_level.hpp>
#include <chorale/algorithm/alltoall/bruck.hpp>
#include <chorale/algorithm/alltoall/direct.hpp>
#include <chorale/algorithm/alltoall/hybrid_pairwise.hpp>
#include <chorale/algorithm/alltoall/last_arriver.hpp>
#include <chorale/algorithm/alltoall/last_arriver_reads.hpp>
#include <chorale/algorithm/alltoall/multi_object.hpp>
#include <chorale/algorithm/alltoall/pairwise.hpp>
#include <chorale/algorithm/alltoall/standard.hpp>
#include <chorale/algorithm/barrier/central.hpp>
#include <chorale/algorithm/barrier/dissemination.hpp>
#include <chorale/algorithm/barrier/dissemination_k.hpp>
#include <chorale/algorithm/barrier/gather_multicast.hpp>
#include <chorale/algorithm/barrier/last_arriver.hpp>
#include <chorale/algorithm/barrier/multi_object.hpp>
#include <chorale/algorithm/barrier/pairwise_exchange.hpp>
#include <chorale/algorithm/barrier/standard.hpp>
#include <chorale/algorithm/barrier/two_level.hpp>
#include <chorale/algorithm/broadcast/binomial.hpp>
#include <chorale/algorithm/broadcast/chain.hpp>
#include <chorale/algorithm/broadcast/fetch.hpp>
#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/algorithm/broadcast/knomial.hpp>
#include <chorale/algorithm/broadcast/last_arriver.hpp>
#include <chorale/algorithm/broadcast/multi_object.hpp>
#include <chorale/algorithm/broadcast/multicast.hpp>
#include <chorale/algorithm/broadcast/scatter_allgather.hpp>
#include <chorale/algorithm/broadcast/standard.hpp>
#include <chorale/algorithm/broadcast/two_level.hpp>
#include <chorale/algorithm/exchange/direct.hpp>
#include <chorale/algorithm/gather/binomial.hpp>
#include <chorale/algorithm/gather/by_place.hpp>
#include <chorale/algorithm/gather/flat.hpp>
#include <chorale/algorithm/gather/standard.hpp>
#include <chorale/algorithm/gather/two_level.hpp>
#include <chorale/algorithm/operation_traits.hpp>
#include <chorale/algorithm/reduce/degree_k.hpp>
#include <chorale/algorithm/reduce/rank_by_rank.hpp>
#include <chorale/algorithm/reduce/reproducible.hpp>
#include <chorale/algorithm/reduce/scatter_gather.hpp>
#include <chorale/algorithm/reduce/standard.hpp>
#include <chorale/algorithm/reduce/two_level.hpp>
#include <chorale/algorithm/reduce_scatter/circulant.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>
#include <chorale/algorithm/reduce_scatter/last_arriver.hpp>
#include <chorale/algorithm/reduce_scatter/rank_by_rank.hpp>
#include <chorale/algorithm/reduce_scatter/recursive_halving.hpp>
#include <chorale/algorithm/reduce_scatter/standard.hpp>
#include <chorale/algorithm/reduce_scatter/two_level.hpp>
#include <chorale/algorithm/scan/by_shares.hpp>
#include <chorale/algorithm/scan/chain.hpp>
#include <chorale/algorithm/scan/recursive_doubling.hpp>
#include <chorale/algorithm/scan/standard.hpp>
#include <chorale/algorithm/scan/two_level.hpp>
#include <chorale/algorithm/scatter/binomial.hpp>
#include <chorale/algorithm/scatter/by_place.hpp>
#include <chorale/algorithm/scatter/fetch.hpp>
#include <chorale/algorithm/scatter/flat.hpp>
#include <chorale/algorithm/scatter/standard.hpp>
#include <chorale/algorithm/scatter/two_level.hpp>
#include <chorale/algorithm/through_blocks.hpp>
// IWYU pragma: end_exports
#include <chorale/algorithm/operation_traits.hpp>

namespace chorale {

/// Every algorithm, with each parameter that is measured. Each is used on every transport that its `runs_on`
/// accepts. A new algorithm is one line here.
using every_algorithm = type_list<  //
    barrier::standard,              //
    barrier::central,               //
    barrier::dissemination,         //
    barrier::pairwise_exchange,     //
    barrier::dissemination_k<3>,    //
    barrier::dissemination_k<7>,    //
    barrier::last_arriver,          //
    barrier::two_level<barrier::dissemination, barrier::dissemination>,
    barrier::multi_object<barrier::dissemination_k<3>>,
    barrier::multi_object<barrier::dissemination_k<3>, barrier::last_arriver>,
    barrier::gather_multicast<7>,           //
    barrier::gather_multicast<1>,           //
    barrier::gather_multicast<3>,           //
    barrier::gather_multicast<15>,          //
    broadcast::standard,                    //
    broadcast::binomial,                    //
    broadcast::flat,                        //
    broadcast::binomial_store_and_forward,  //
    broadcast::fetch,                       //
    broadcast::chain,                       //
    broadcast::scatter_allgather,           //
    broadcast::last_arriver,                //
    broadcast::multicast,                   //
    broadcast::two_level<broadcast::binomial, broadcast::binomial>,
    broadcast::two_level<broadcast::last_arriver, broadcast::knomial<4>>, broadcast::knomial<4>,
    broadcast::multi_object<broadcast::knomial<3>>, through_blocks<broadcast::flat>,
    reduce::standard,        //
    reduce::degree_k<15>,    //
    reduce::degree_k<1>,     //
    reduce::degree_k<3>,     //
    reduce::degree_k<7>,     //
    reduce::scatter_gather,  //
    reduce::reproducible,    //
    reduce::two_level<reduce::degree_k<3>, reduce::degree_k<1>>,
    reduce::two_level<allreduce::last_arriver, reduce::degree_k<3>>,
    reduce::rank_by_rank,                      //
    allreduce::standard,                       //
    allreduce::recursive_doubling,             //
    allreduce::recursive_multiplying<4>,       //
    allreduce::recursive_multiplying<8>,       //
    allreduce::degree_k<1>,                    //
    allreduce::degree_k<3>,                    //
    allreduce::degree_k<7>,                    //
    allreduce::degree_k<15>,                   //
    allreduce::degree_k<15, broadcast::flat>,  //
    allreduce::reduce_multicast<7>,            //
    allreduce::rabenseifner,                   //
    allreduce::last_arriver,                   //
    allreduce::ring,                           //
    allreduce::reproducible,                   //
    allreduce::two_level<reduce::degree_k<3>, allreduce::recursive_doubling, broadcast::binomial>,
    allreduce::two_level<reduce::degree_k<3>, allreduce::recursive_multiplying<4>, broadcast::last_arriver>,
    allreduce::multi_object<allreduce::recursive_multiplying<4>, broadcast::binomial>,
    allreduce::rank_by_rank,  //
    allreduce::split_level<reduce_scatter::direct, allreduce::rabenseifner, allgather::direct>,
    allreduce::split_level<reduce_scatter::direct, allreduce::rabenseifner, allgather::last_arriver>,
    allgather::standard,            //
    allgather::ring,                //
    allgather::recursive_doubling,  //
    allgather::bruck,               //
    allgather::direct,              //
    allgather::last_arriver,        //
    through_blocks<allgather::direct>,
    allgather::two_level<gather::flat, allgather::ring, broadcast::binomial>,
    alltoall::standard,            //
    alltoall::pairwise,            //
    alltoall::direct,              //
    alltoall::last_arriver,        //
    alltoall::last_arriver_reads,  //
    alltoall::bruck,               //
    alltoall::bruck_k<4>,          //
    alltoall::bruck_k<8>,          //
    alltoall::hybrid_pairwise<2>,  //
    alltoall::multi_object<alltoall::direct>, through_blocks<alltoall::direct>,
    gather::standard,  //
    gather::flat,      //
    gather::by_place,  //
    gather::binomial,  //
    gather::two_level<gather::flat, gather::flat>, through_blocks<gather::flat>,
    scatter::standard,  //
    scatter::flat,      //
    scatter::by_place,  //
    scatter::fetch,     //
    scatter::binomial,  //
    scatter::two_level<scatter::flat, scatter::flat>, through_blocks<scatter::flat>,
    reduce_scatter::standard,           //
    reduce_scatter::last_arriver,       //
    reduce_scatter::direct,             //
    reduce_scatter::recursive_halving,  //
    reduce_scatter::circulant,          //
    reduce_scatter::rank_by_rank,       //
    reduce_scatter::two_level<reduce::degree_k<3>, reduce_scatter::direct, scatter::flat>,
    scan::standard,            //
    scan::chain,               //
    scan::by_shares,           //
    scan::recursive_doubling,  //
    scan::two_level<scan::chain, scan::recursive_doubling, broadcast::binomial>, exchange::direct>;

}  // namespace chorale
