// A call of an algorithm over any transport, of a given size, and the algorithms that are tried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include <chorale/algorithm/allgather/bruck.hpp>
#include <chorale/algorithm/allgather/direct.hpp>
#include <chorale/algorithm/allgather/recursive_doubling.hpp>
#include <chorale/algorithm/allgather/ring.hpp>
#include <chorale/algorithm/allreduce/degree_k.hpp>
#include <chorale/algorithm/allreduce/rabenseifner.hpp>
#include <chorale/algorithm/allreduce/recursive_doubling.hpp>
#include <chorale/algorithm/allreduce/reproducible.hpp>
#include <chorale/algorithm/allreduce/ring.hpp>
#include <chorale/algorithm/alltoall/bruck.hpp>
#include <chorale/algorithm/alltoall/direct.hpp>
#include <chorale/algorithm/alltoall/pairwise.hpp>
#include <chorale/algorithm/barrier/central.hpp>
#include <chorale/algorithm/barrier/dissemination.hpp>
#include <chorale/algorithm/barrier/dissemination_k.hpp>
#include <chorale/algorithm/barrier/pairwise_exchange.hpp>
#include <chorale/algorithm/broadcast/binomial.hpp>
#include <chorale/algorithm/broadcast/chain.hpp>
#include <chorale/algorithm/broadcast/fetch.hpp>
#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/algorithm/broadcast/scatter_allgather.hpp>
#include <chorale/algorithm/gather/binomial.hpp>
#include <chorale/algorithm/gather/flat.hpp>
#include <chorale/algorithm/operation_traits.hpp>
#include <chorale/algorithm/reduce/degree_k.hpp>
#include <chorale/algorithm/reduce/reproducible.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>
#include <chorale/algorithm/reduce_scatter/recursive_halving.hpp>
#include <chorale/algorithm/scan/chain.hpp>
#include <chorale/algorithm/scan/recursive_doubling.hpp>
#include <chorale/algorithm/scatter/binomial.hpp>
#include <chorale/algorithm/scatter/fetch.hpp>
#include <chorale/algorithm/scatter/flat.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/core/task.hpp>

namespace sim_scale {

/// Those that run over reliable connections without multicast.
using algorithms = chorale::type_list<                           //
    chorale::barrier::dissemination,                             //
    chorale::barrier::dissemination_k<3>,                        //
    chorale::barrier::dissemination_k<7>,                        //
    chorale::barrier::pairwise_exchange,                         //
    chorale::barrier::central,                                   //
    chorale::broadcast::binomial,                                //
    chorale::broadcast::flat,                                    //
    chorale::broadcast::binomial_store_and_forward,              //
    chorale::broadcast::fetch,                                   //
    chorale::broadcast::chain,                                   //
    chorale::broadcast::scatter_allgather,                       //
    chorale::reduce::degree_k<1>,                                //
    chorale::reduce::degree_k<3>,                                //
    chorale::reduce::degree_k<7>,                                //
    chorale::reduce::degree_k<15>,                               //
    chorale::reduce::reproducible,                               //
    chorale::allreduce::recursive_doubling,                      //
    chorale::allreduce::degree_k<1>,                             //
    chorale::allreduce::degree_k<3>,                             //
    chorale::allreduce::degree_k<7>,                             //
    chorale::allreduce::degree_k<15, chorale::broadcast::flat>,  //
    chorale::allreduce::rabenseifner,                            //
    chorale::allreduce::ring,                                    //
    chorale::allreduce::reproducible,                            //
    chorale::allgather::ring,                                    //
    chorale::allgather::recursive_doubling,                      //
    chorale::allgather::bruck,                                   //
    chorale::allgather::direct,                                  //
    chorale::alltoall::pairwise,                                 //
    chorale::alltoall::direct,                                   //
    chorale::alltoall::bruck,                                    //
    chorale::gather::flat,                                       //
    chorale::gather::binomial,                                   //
    chorale::scatter::flat,                                      //
    chorale::scatter::fetch,                                     //
    chorale::scatter::binomial,                                  //
    chorale::reduce_scatter::direct,                             //
    chorale::reduce_scatter::recursive_halving,                  //
    chorale::scan::chain,                                        //
    chorale::scan::recursive_doubling>;

/// Whether an operation has a block for each rank on some rank.
constexpr bool is_of_blocks(chorale::operation what) noexcept {
  using chorale::operation;
  return what == operation::allgather || what == operation::alltoall || what == operation::gather ||
         what == operation::scatter || what == operation::reduce_scatter;
}

/// Begins a call of Algorithm on `bytes`, of a message or of each block, a multiple of 4; root 0. `in` and
/// `out` have room for it, and do not overlap.
template <class Algorithm, class Net>
chorale::task<> begin(Net& net, chorale::call_id now, std::size_t bytes, std::span<std::byte> in,
                      std::span<std::byte> out) {
  using chorale::operation;
  constexpr auto what = Algorithm::implements;
  const auto layout = chorale::block_layout::even(net.size(), bytes);
  const auto add = chorale::reduction::of<std::uint32_t>(std::plus<>{});
  const bool is_root = net.rank() == 0;
  const auto mine = in.first(bytes);
  using all = chorale::blocks<std::byte>;
  using all_const = chorale::blocks<const std::byte>;
  if constexpr (what == operation::barrier)
    return Algorithm::run(net, now);
  else if constexpr (what == operation::broadcast)
    return Algorithm::run(net, now, mine, 0);
  else if constexpr (what == operation::reduce)
    return Algorithm::run(net, now, std::span<const std::byte>{mine}, out.first(bytes), add, 0);
  else if constexpr (what == operation::allreduce)
    return Algorithm::run(net, now, mine, add);
  else if constexpr (what == operation::allgather)
    return Algorithm::run(net, now, all{out.first(layout.total()), layout});
  else if constexpr (what == operation::alltoall)
    return Algorithm::run(net, now, all_const{in.first(layout.total()), layout},
                          all{out.first(layout.total()), layout});
  else if constexpr (what == operation::gather)
    return Algorithm::run(net, now, std::span<const std::byte>{mine},
                          is_root ? all{out.first(layout.total()), layout} : all{}, 0);
  else if constexpr (what == operation::scatter)
    return Algorithm::run(net, now, is_root ? all_const{in.first(layout.total()), layout} : all_const{},
                          out.first(bytes), 0);
  else if constexpr (what == operation::reduce_scatter)
    return Algorithm::run(net, now, all_const{in.first(layout.total()), layout}, out.first(bytes), add);
  else
    return Algorithm::run(net, now, mine, add, true);
}

/// Room that `begin` needs, in each of its buffers.
inline std::size_t room_for(chorale::operation what, int ranks, std::size_t bytes) noexcept {
  return is_of_blocks(what) ? static_cast<std::size_t>(ranks) * bytes : bytes;
}

/// The call as all ranks name it.
inline chorale::call named(chorale::operation what, std::size_t bytes) noexcept {
  return {.what = what, .root = 0, .bytes = bytes};
}

}  // namespace sim_scale
