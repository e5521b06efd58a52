// Makes one call of each reduction, and compares the result with a serial loop over the ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <chorale/core/reduction.hpp>
#include <chorale/core/task.hpp>

#include "moving_checks.hpp"
#include "operands.hpp"

namespace fake {

template <class T, class Op, class Net>
chorale::task<> check_reduce(Net& net, run_of<chorale::operation::reduce, Net> run, round call, Op op) {
  const auto given = elements_of<T>(call.seed, net.rank(), call.count);
  const bool is_root = net.rank() == call.root;
  buffer in{given.size(), call.seed};
  std::copy(given.begin(), given.end(), in.data());
  buffer out{is_root ? given.size() : 0, call.seed / 16};
  // At the root operand and result may be the same buffer.
  const bool in_place = is_root && call.seed % 3 == 0;
  co_await run(net, call.now, in.span(), in_place ? in.span() : out.span(), chorale::reduction::of<T>(op),
               call.root);
  if (is_root)
    (in_place ? in : out).require(call.describe(), folded<T>(call.seed, net.size() - 1, 0, call.count, op));
  if (!in_place) in.require(call.describe() + ": operand", given);
}

/// Whether a rank's call is in place: on all ranks, on none, or on some, since each rank decides for itself.
inline bool is_in_place_on(int rank, const round& call) noexcept {
  const auto kind = call.seed / 64 % 3;
  return kind == 0 || (kind == 1 && rank % 2 == 0);
}

template <class T, class Op, class Net>
chorale::task<> check_allreduce(Net& net, run_of<chorale::operation::allreduce, Net> run, round call, Op op) {
  const auto given = elements_of<T>(call.seed, net.rank(), call.count);
  buffer in{given.size(), call.seed};
  buffer apart{given.size(), call.seed / 16};
  std::copy(given.begin(), given.end(), in.data());
  const bool is_in_place = is_in_place_on(net.rank(), call);
  buffer& out = is_in_place ? in : apart;
  co_await run(net, call.now, in.span(), out.span(), chorale::reduction::of<T>(op));
  out.require(call.describe(), folded<T>(call.seed, net.size() - 1, 0, call.count, op));
  if (!is_in_place) in.require(call.describe() + ": operand", given);
}

template <class T, class Op, class Net>
chorale::task<> check_reduce_scatter(Net& net, run_of<chorale::operation::reduce_scatter, Net> run,
                                     round call, Op op) {
  // All ranks know all counts, and the blocks are packed.
  auto where = collectives::even(net.size(), call.count);
  if (call.uneven) {
    for (int r = 0; r < net.size(); ++r)
      where.counts[static_cast<std::size_t>(r)] = collectives::uneven_count(call.seed, r, call.count);
    where.room = where.first(net.size());
  }
  auto bytes = where;
  for (auto& count : bytes.counts) count *= sizeof(T);
  const auto given = elements_of<T>(call.seed, net.rank(), where.room);
  buffer in{given.size(), call.seed};
  std::copy(given.begin(), given.end(), in.data());
  buffer out{bytes.count(net.rank()), call.seed / 16};
  co_await run(net, call.now, {in.span(), layout_of(bytes, !call.uneven)}, out.span(),
               chorale::reduction::of<T>(op));
  out.require(call.describe(),
              folded<T>(call.seed, net.size() - 1, where.first(net.rank()), where.count(net.rank()), op));
  in.require(call.describe() + ": operand", given);
}

/// Exclusive if `uneven`; then rank 0 has no result and keeps its operand.
template <class T, class Op, class Net>
chorale::task<> check_scan(Net& net, run_of<chorale::operation::scan, Net> run, round call, Op op) {
  const auto given = elements_of<T>(call.seed, net.rank(), call.count);
  buffer in{given.size(), call.seed};
  buffer apart{given.size(), call.seed / 16};
  std::copy(given.begin(), given.end(), in.data());
  const bool is_in_place = is_in_place_on(net.rank(), call);
  buffer& out = is_in_place ? in : apart;
  co_await run(net, call.now, in.span(), out.span(), chorale::reduction::of<T>(op), !call.uneven);
  const int last = call.uneven && net.rank() != 0 ? net.rank() - 1 : net.rank();
  out.require(call.describe(), folded<T>(call.seed, last, 0, call.count, op));
  if (!is_in_place) in.require(call.describe() + ": operand", given);
}

}  // namespace fake
