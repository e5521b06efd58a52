// SPDX-License-Identifier: Apache-2.0
// Reductions and scans, compared with a serial fold from rank 0 upwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "cases.hpp"
#include "manner.hpp"

namespace collectives {

template <class T, class Op, class Comm>
void check_reduce(Comm& comm, std::size_t count, int root, Op op, std::uint64_t seed, const manner& m = {}) {
  const bool is_root = comm.rank() == root;
  reduction_case<T, Op> one{of(comm, seed, m), count, {0, count, is_root ? comm.size() : 0}, op};
  const std::span<const T> in = one.in.span();
  // Except at the root, `out` is not used, and may have any size.
  const std::span<T> out = is_root || seed % 2 != 0 ? one.out().span() : std::span<T>{};
  if (m.nonblocking)
    await(comm.ireduce(in, out, op, chorale::root{root}));
  else
    comm.reduce(in, out, op, chorale::root{root});
  one.verify(describe<T>("reduce", count, comm.rank(), m, root));
}

template <class T, class Op, class Comm>
void check_allreduce(Comm& comm, std::size_t count, Op op, std::uint64_t seed, const manner& m = {}) {
  participant me = of(comm, seed, m);
  me.in_place = m.in_place || m.nonblocking;
  reduction_case<T, Op> one{me, count, {0, count, comm.size()}, op};
  if (m.nonblocking)
    await(comm.iallreduce(chorale::in_place, one.in.span(), op));
  else if (m.in_place)
    comm.allreduce(chorale::in_place, one.in.span(), op);
  else
    comm.allreduce(std::span<const T>{one.in.span()}, one.out().span(), op);
  one.verify(describe<T>("allreduce", count, comm.rank(), m));
}

/// A result of `count` elements at each rank.
template <class T, class Op, class Comm>
void check_reduce_scatter(Comm& comm, std::size_t count, Op op, std::uint64_t seed, const manner& m = {}) {
  participant me = of(comm, seed, m);
  me.in_place = false;
  const placement where = even(comm.size(), count);
  reduction_case<T, Op> one{me, where.room, {where.first(me.rank), count, comm.size()}, op};
  const std::span<const T> in = one.in.span();
  if (m.nonblocking)
    await(comm.ireduce_scatter(in, one.out().span(), op));
  else
    comm.reduce_scatter(in, one.out().span(), op);
  one.verify(describe<T>("reduce_scatter", count, comm.rank(), m));
}
/// A result of up to `most` elements at each rank.
template <class T, class Op, class Comm>
void check_reduce_scatter_uneven(Comm& comm, std::size_t most, Op op, std::uint64_t seed,
                                 const manner& m = {}) {
  participant me = of(comm, seed, m);
  me.in_place = false;
  const placement where = packed(comm.size(), most, seed);
  reduction_case<T, Op> one{me, where.room, {where.first(me.rank), where.count(me.rank), comm.size()}, op};
  comm.reduce_scatter(std::span<const T>{one.in.span()}, one.out().span(),
                      std::span<const std::size_t>{where.counts}, op);
  one.verify(describe<T>("reduce_scatter with counts", most, comm.rank(), m));
}

/// scan, or exscan if not `inclusive`.
template <class T, class Op, class Comm>
void check_scan(Comm& comm, std::size_t count, Op op, bool inclusive, std::uint64_t seed,
                const manner& m = {}) {
  participant me = of(comm, seed, m);
  me.in_place = true;
  reduction_case<T, Op> one{me, count, {0, count, comm.rank() + (inclusive ? 1 : 0)}, op};
  if (inclusive) {
    if (m.nonblocking)
      await(comm.iscan(chorale::in_place, one.in.span(), op));
    else
      comm.scan(chorale::in_place, one.in.span(), op);
  } else {
    one.initial = operand<T, Op>(seed, comm.size(), 0);
    if (m.nonblocking)
      await(comm.iexscan(chorale::in_place, one.in.span(), chorale::initial{*one.initial}, op));
    else
      comm.exscan(chorale::in_place, one.in.span(), chorale::initial{*one.initial}, op);
  }
  one.verify(describe<T>(inclusive ? "scan" : "exscan", count, comm.rank(), m));
}

}  // namespace collectives
