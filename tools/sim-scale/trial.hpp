// SPDX-License-Identifier: Apache-2.0
// A call of an algorithm over any transport, of a given size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <chorale/algorithm/operation_traits.hpp>
#include <chorale/algorithm/start.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/core/task.hpp>
#include <chorale/transport/rc.hpp>

#include "../../lib/simulation/ghosts/transport.hpp"
#include "models.hpp"

namespace sim_scale {

/// Whether some rank has a block for each rank.
constexpr bool is_of_blocks(chorale::operation what) noexcept {
  using chorale::operation;
  return what == operation::allgather || what == operation::alltoall || what == operation::gather ||
         what == operation::scatter || what == operation::reduce_scatter;
}

/// Begins a call of Algorithm with root 0. `bytes`: of the message or of each block, a multiple of 4. `in`
/// and `out` are large enough (`room_for`) and do not overlap.
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
    return chorale::start<Algorithm>(net, now, std::span<const std::byte>{mine}, mine, add);
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
  else if constexpr (what == operation::scan)
    return chorale::start<Algorithm>(net, now, std::span<const std::byte>{mine}, mine, add, true);
}

/// Bytes that `begin` needs in each of its buffers.
inline std::size_t room_for(chorale::operation what, int ranks, std::size_t bytes) noexcept {
  return is_of_blocks(what) ? static_cast<std::size_t>(ranks) * bytes : bytes;
}

/// The call as it is the same on all ranks.
inline chorale::call named(chorale::operation what, std::size_t bytes) noexcept {
  return {.what = what, .root = 0, .bytes = bytes};
}

/// Calls by ghosts and by the full stack, for a `candidate`; `begin` starts them.
using ghost_call = chorale::task<> (*)(chorale::simulation::ghosts::transport&, chorale::call_id, std::size_t,
                                       std::span<std::byte>, std::span<std::byte>);
std::vector<outcome> run_by_ghosts(const chorale::simulation::machine& on, int ranks, chorale::operation what,
                                   const std::vector<std::size_t>& sizes, int calls, ghost_call begin);

using full_call = chorale::task<> (*)(chorale::transport::rc&, chorale::call_id, std::size_t,
                                      std::span<std::byte>, std::span<std::byte>);
std::vector<outcome> run_by_full_stack(const chorale::simulation::machine& on, int ranks,
                                       chorale::operation what, const std::vector<std::size_t>& sizes,
                                       int calls, full_call begin);

}  // namespace sim_scale
