// Reduce-scatter and scans, compared with a serial fold from rank 0 upwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "guarded_buffer.hpp"
#include "manner.hpp"
#include "placement.hpp"

namespace collectives {

namespace detail {

template <class T, class Op, class Comm, class Call>
void check_reduce_scatter_of(Comm& comm, const char* name, const placement& where, std::size_t most,
                             std::uint64_t seed, const manner& m, const Op& op, Call&& call) {
  const std::string what = describe<T>(name, most, comm.rank(), m);
  const auto mine = [&](std::size_t i) { return operand<T, Op>(seed, comm.rank(), i); };
  guarded_buffer<T> in{where.room, m.misalignment};
  guarded_buffer<T> out{where.count(comm.rank()), m.misalignment + 1};
  in.fill_with(mine);
  call(std::span<const T>{in.span()}, out.span());
  const auto first = where.first(comm.rank());
  out.check(what, [&](std::size_t i) { return expected_reduction<T>(seed, comm.size(), first + i, op); });
  in.check(what + ": operand", mine);
}

}  // namespace detail

/// A result of `count` elements at each rank.
template <class T, class Op, class Comm>
void check_reduce_scatter(Comm& comm, std::size_t count, Op op, std::uint64_t seed, const manner& m = {}) {
  detail::check_reduce_scatter_of<T>(comm, "reduce_scatter", even(comm.size(), count), count, seed, m, op,
                                     [&](auto in, auto out) {
                                       if (m.nonblocking)
                                         await(comm.ireduce_scatter(in, out, op));
                                       else
                                         comm.reduce_scatter(in, out, op);
                                     });
}
/// A result of up to `most` elements at each rank.
template <class T, class Op, class Comm>
void check_reduce_scatter_uneven(Comm& comm, std::size_t most, Op op, std::uint64_t seed,
                                 const manner& m = {}) {
  auto where = uneven(comm.size(), most, seed, 0);
  where.displacements.clear();
  where.room = where.first(comm.size());
  detail::check_reduce_scatter_of<T>(
      comm, "reduce_scatter with counts", where, most, seed, m, op, [&](auto in, auto out) {
        comm.reduce_scatter(in, out, std::span<const std::size_t>{where.counts}, op);
      });
}

/// scan, or exscan if not `inclusive`.
template <class T, class Op, class Comm>
void check_scan(Comm& comm, std::size_t count, Op op, bool inclusive, std::uint64_t seed,
                const manner& m = {}) {
  const std::string what = describe<T>(inclusive ? "scan" : "exscan", count, comm.rank(), m);
  guarded_buffer<T> data{count, m.misalignment};
  data.fill_with([&](std::size_t i) { return operand<T, Op>(seed, comm.rank(), i); });
  if (inclusive) {
    if (m.nonblocking)
      await(comm.iscan(data.span(), op));
    else
      comm.scan(data.span(), op);
  } else if (m.nonblocking) {
    await(comm.iexscan(data.span(), op));
  } else {
    comm.exscan(data.span(), op);
  }
  // Rank 0 has no result of an exclusive scan, and keeps its operand.
  const int ranks = inclusive || comm.rank() == 0 ? comm.rank() + 1 : comm.rank();
  data.check(what, [&](std::size_t i) { return expected_reduction<T>(seed, ranks, i, op); });
}

}  // namespace collectives
