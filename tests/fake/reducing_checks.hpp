// SPDX-License-Identifier: Apache-2.0
// Makes one call of each reduction, and compares the result with a serial loop over the ranks.
#pragma once

#include <cstddef>

#include <chorale/core/reduction.hpp>
#include <chorale/core/task.hpp>

#include "moving_checks.hpp"
#include "operands.hpp"

namespace fake {

template <class T, class Op, class Net>
chorale::task<> check_reduce(Net& net, run_of<chorale::operation::reduce, Net> run, round call, Op op) {
  const bool is_root = net.rank() == call.root;
  auto me = call.of(net);
  // At the root operand and result may be the same buffer.
  me.in_place = is_root && call.seed % 3 == 0;
  const std::size_t taken = is_root ? call.count : 0;
  collectives::reduction_case<T, Op> one{me, call.count, {0, taken, is_root ? net.size() : 0}, op};
  co_await run(net, call.now, bytes_of(one.in), bytes_of(one.out()), chorale::reduction::of<T>(op),
               call.root);
  one.verify(call.describe());
}

/// Whether a rank's call is in place: on all ranks, on none, or on some, since each rank decides for itself.
inline bool is_in_place_on(int rank, const round& call) noexcept {
  const auto kind = call.seed / 64 % 3;
  return kind == 0 || (kind == 1 && rank % 2 == 0);
}

template <class T, class Op, class Net>
chorale::task<> check_allreduce(Net& net, run_of<chorale::operation::allreduce, Net> run, round call, Op op) {
  auto me = call.of(net);
  me.in_place = is_in_place_on(net.rank(), call);
  collectives::reduction_case<T, Op> one{me, call.count, {0, call.count, net.size()}, op};
  co_await run(net, call.now, bytes_of(one.in), bytes_of(one.out()), chorale::reduction::of<T>(op));
  one.verify(call.describe());
}

template <class T, class Op, class Net>
chorale::task<> check_reduce_scatter(Net& net, run_of<chorale::operation::reduce_scatter, Net> run,
                                     round call, Op op) {
  // All ranks know all counts, and the blocks are packed.
  const auto where = call.uneven ? collectives::packed(net.size(), call.count, call.seed)
                                 : collectives::even(net.size(), call.count);
  auto bytes = where;
  for (auto& count : bytes.counts) count *= sizeof(T);
  const int rank = net.rank();
  collectives::reduction_case<T, Op> one{
      call.of(net), where.room, {where.first(rank), where.count(rank), net.size()}, op};
  co_await run(net, call.now, {bytes_of(one.in), layout_of(bytes, !call.uneven)}, bytes_of(one.out()),
               chorale::reduction::of<T>(op));
  one.verify(call.describe());
}

/// Exclusive if `uneven`.
template <class T, class Op, class Net>
chorale::task<> check_scan(Net& net, run_of<chorale::operation::scan, Net> run, round call, Op op) {
  auto me = call.of(net);
  me.in_place = is_in_place_on(me.rank, call);
  collectives::reduction_case<T, Op> one{
      me, call.count, {0, call.count, collectives::scanned_ranks(me.rank, !call.uneven)}, op};
  co_await run(net, call.now, bytes_of(one.in), bytes_of(one.out()), chorale::reduction::of<T>(op),
               !call.uneven);
  one.verify(call.describe());
}

}  // namespace fake
