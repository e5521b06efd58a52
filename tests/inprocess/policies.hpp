// Communicators that between them contain every algorithm.
#pragma once

#include <chorale/algorithm/allreduce/degree_k.hpp>
#include <chorale/algorithm/allreduce/rank_by_rank.hpp>
#include <chorale/algorithm/allreduce/recursive_doubling.hpp>
#include <chorale/algorithm/barrier/central.hpp>
#include <chorale/algorithm/barrier/dissemination.hpp>
#include <chorale/algorithm/barrier/pairwise_exchange.hpp>
#include <chorale/algorithm/broadcast/binomial.hpp>
#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/algorithm/reduce/degree_k.hpp>
#include <chorale/communicator.hpp>

namespace inprocess {

template <class Transport>
using standard = chorale::communicator<Transport>;
template <class Transport>
using degree_1 =
    chorale::communicator<Transport, chorale::barrier::pairwise_exchange, chorale::broadcast::flat,
                          chorale::reduce::degree_k<1>, chorale::allreduce::degree_k<1>>;
template <class Transport>
using degree_3 = chorale::communicator<Transport, chorale::barrier::dissemination,
                                       chorale::broadcast::binomial, chorale::reduce::degree_k<3>,
                                       chorale::allreduce::degree_k<3, chorale::broadcast::flat>>;
template <class Transport>
using degree_7 = chorale::communicator<Transport, chorale::barrier::central, chorale::reduce::degree_k<7>,
                                       chorale::allreduce::degree_k<7>>;
template <class Transport>
using degree_15 = chorale::communicator<Transport, chorale::allreduce::degree_k<15, chorale::broadcast::flat>,
                                        chorale::reduce::degree_k<15>, chorale::barrier::pairwise_exchange>;
template <class Transport>
using doubling = chorale::communicator<Transport, chorale::allreduce::recursive_doubling>;
template <class Transport>
using by_rank = chorale::communicator<Transport, chorale::allreduce::rank_by_rank>;

}  // namespace inprocess
