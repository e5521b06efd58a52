// SPDX-License-Identifier: Apache-2.0
// Communicators with other than the standard algorithms.
#pragma once

#include <tuple>
#include <type_traits>

#include <chorale/algorithm/allgather/bruck.hpp>
#include <chorale/algorithm/allgather/direct.hpp>
#include <chorale/algorithm/allgather/recursive_doubling.hpp>
#include <chorale/algorithm/allgather/ring.hpp>
#include <chorale/algorithm/allreduce/degree_k.hpp>
#include <chorale/algorithm/allreduce/rank_by_rank.hpp>
#include <chorale/algorithm/allreduce/recursive_doubling.hpp>
#include <chorale/algorithm/allreduce/reduce_multicast.hpp>
#include <chorale/algorithm/alltoall/bruck.hpp>
#include <chorale/algorithm/alltoall/direct.hpp>
#include <chorale/algorithm/alltoall/pairwise.hpp>
#include <chorale/algorithm/barrier/central.hpp>
#include <chorale/algorithm/barrier/dissemination.hpp>
#include <chorale/algorithm/barrier/gather_multicast.hpp>
#include <chorale/algorithm/barrier/pairwise_exchange.hpp>
#include <chorale/algorithm/broadcast/binomial.hpp>
#include <chorale/algorithm/broadcast/fetch.hpp>
#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/algorithm/broadcast/multicast.hpp>
#include <chorale/algorithm/gather/binomial.hpp>
#include <chorale/algorithm/gather/flat.hpp>
#include <chorale/algorithm/reduce/degree_k.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>
#include <chorale/algorithm/scan/chain.hpp>
#include <chorale/algorithm/scan/recursive_doubling.hpp>
#include <chorale/algorithm/scatter/binomial.hpp>
#include <chorale/algorithm/scatter/fetch.hpp>
#include <chorale/algorithm/scatter/flat.hpp>
#include <chorale/communicator.hpp>

#include "../support/instrumented.hpp"

namespace inprocess {

/// The types of a test: all; `Once` with the address sanitizer, which has to run each piece of code once and
/// takes minutes to compile; `Few` with the thread sanitizer, since races occur in the transports rather than
/// in algorithms.
template <class All, class Once, class Few>
using watched_list =
    std::conditional_t<support::threads_watched, Few, std::conditional_t<support::instrumented, Once, All>>;

template <class Transport>
using standard = chorale::communicator<Transport>;
template <class Transport>
using degree_1 = chorale::communicator<
    Transport, chorale::barrier::pairwise_exchange, chorale::broadcast::flat, chorale::reduce::degree_k<1>,
    chorale::allreduce::degree_k<1>, chorale::allgather::recursive_doubling, chorale::alltoall::direct,
    chorale::gather::binomial, chorale::scatter::binomial, chorale::scan::recursive_doubling>;
template <class Transport>
using degree_3 = chorale::communicator<Transport, chorale::barrier::dissemination,
                                       chorale::broadcast::binomial, chorale::reduce::degree_k<3>,
                                       chorale::allreduce::degree_k<3, chorale::broadcast::flat>,
                                       chorale::allgather::bruck, chorale::alltoall::bruck_k<3>>;
template <class Transport>
using degree_7 =
    chorale::communicator<Transport, chorale::barrier::central, chorale::reduce::degree_k<7>,
                          chorale::allreduce::degree_k<7>, chorale::allgather::direct, chorale::scan::chain>;
template <class Transport>
using doubling = chorale::communicator<Transport, chorale::allreduce::recursive_doubling>;
template <class Transport>
using by_rank =
    chorale::communicator<Transport, chorale::allreduce::rank_by_rank, chorale::allgather::ring,
                          chorale::alltoall::pairwise, chorale::gather::flat, chorale::scatter::flat,
                          chorale::reduce_scatter::direct, chorale::scan::chain>;

/// Algorithms with memory semantics.
template <class Transport>
using reading = chorale::communicator<Transport, chorale::broadcast::fetch, chorale::scatter::fetch>;

/// Multicast algorithms, with the gather tree of P1 and a narrow one.
template <class Transport>
using multicasting =
    chorale::communicator<Transport, chorale::barrier::gather_multicast<>, chorale::broadcast::multicast,
                          chorale::allreduce::reduce_multicast<7>>;
template <class Transport>
using multicasting_1 =
    chorale::communicator<Transport, chorale::barrier::gather_multicast<1>, chorale::broadcast::multicast,
                          chorale::allreduce::reduce_multicast<3>>;

}  // namespace inprocess
