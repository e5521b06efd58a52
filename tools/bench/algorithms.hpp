// The algorithm policies that chorale-bench can measure: a new policy is one line here.
#pragma once

#include <chorale/chorale.hpp>

namespace bench {

/// In the order of the table. Each is measured on every transport that its `runs_on` accepts.
using algorithms = chorale::type_list<                           //
    chorale::barrier::standard,                                  //
    chorale::barrier::central,                                   //
    chorale::barrier::dissemination,                             //
    chorale::barrier::pairwise_exchange,                         //
    chorale::barrier::dissemination_k<3>,                        //
    chorale::barrier::dissemination_k<7>,                        //
    chorale::barrier::last_arriver,                              //
    chorale::barrier::gather_multicast<7>,                       //
    chorale::barrier::gather_multicast<1>,                       //
    chorale::barrier::gather_multicast<3>,                       //
    chorale::barrier::gather_multicast<15>,                      //
    chorale::broadcast::standard,                                //
    chorale::broadcast::binomial,                                //
    chorale::broadcast::flat,                                    //
    chorale::broadcast::binomial_store_and_forward,              //
    chorale::broadcast::fetch,                                   //
    chorale::broadcast::chain,                                   //
    chorale::broadcast::scatter_allgather,                       //
    chorale::broadcast::last_arriver,                            //
    chorale::broadcast::multicast,                               //
    chorale::reduce::standard,                                   //
    chorale::reduce::degree_k<15>,                               //
    chorale::reduce::degree_k<1>,                                //
    chorale::reduce::degree_k<3>,                                //
    chorale::reduce::degree_k<7>,                                //
    chorale::reduce::scatter_gather,                             //
    chorale::reduce::reproducible,                               //
    chorale::allreduce::standard,                                //
    chorale::allreduce::recursive_doubling,                      //
    chorale::allreduce::recursive_multiplying<4>,                //
    chorale::allreduce::recursive_multiplying<8>,                //
    chorale::allreduce::degree_k<1>,                             //
    chorale::allreduce::degree_k<3>,                             //
    chorale::allreduce::degree_k<7>,                             //
    chorale::allreduce::degree_k<15>,                            //
    chorale::allreduce::degree_k<15, chorale::broadcast::flat>,  //
    chorale::allreduce::reduce_multicast<7>,                     //
    chorale::allreduce::rabenseifner,                            //
    chorale::allreduce::last_arriver,                            //
    chorale::allreduce::ring,                                    //
    chorale::allreduce::reproducible,                            //
    chorale::allreduce::rank_by_rank,                            //
    chorale::allgather::standard,                                //
    chorale::allgather::ring,                                    //
    chorale::allgather::recursive_doubling,                      //
    chorale::allgather::bruck,                                   //
    chorale::allgather::direct,                                  //
    chorale::allgather::last_arriver,                            //
    chorale::alltoall::standard,                                 //
    chorale::alltoall::pairwise,                                 //
    chorale::alltoall::direct,                                   //
    chorale::alltoall::last_arriver,                             //
    chorale::alltoall::last_arriver_reads,                       //
    chorale::alltoall::bruck,                                    //
    chorale::alltoall::bruck_k<4>,                               //
    chorale::alltoall::bruck_k<8>,                               //
    chorale::gather::standard,                                   //
    chorale::gather::flat,                                       //
    chorale::gather::binomial,                                   //
    chorale::scatter::standard,                                  //
    chorale::scatter::flat,                                      //
    chorale::scatter::fetch,                                     //
    chorale::scatter::binomial,                                  //
    chorale::reduce_scatter::standard,                           //
    chorale::reduce_scatter::last_arriver,                       //
    chorale::reduce_scatter::direct,                             //
    chorale::reduce_scatter::recursive_halving,                  //
    chorale::reduce_scatter::circulant,                          //
    chorale::scan::standard,                                     //
    chorale::scan::chain,                                        //
    chorale::scan::by_shares,                                    //
    chorale::scan::recursive_doubling,                           //
    chorale::exchange::direct>;

}  // namespace bench
