// SPDX-License-Identifier: Apache-2.0
// Allgather, alltoall and their variants, compared with the known operands of each rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cases.hpp"
#include "manner.hpp"

namespace collectives {

/// `count` elements from each rank.
template <class T, class Comm>
void check_allgather(Comm& comm, std::size_t count, std::uint64_t seed, const manner& m = {}) {
  gathered_case<T> one{of(comm, seed, m), even(comm.size(), count), true};
  const std::span<const T> in = one.mine();
  if (m.nonblocking)
    await(comm.iallgather(in, one.all.span()));
  else if (m.in_place)
    comm.allgather(chorale::in_place, one.all.span());
  else
    comm.allgather(in, one.all.span());
  one.verify(describe<T>("allgather", count, comm.rank(), m));
}
/// Up to `most` elements from each rank, with gaps that must stay unchanged.
template <class T, class Comm>
void check_allgatherv(Comm& comm, std::size_t most, std::uint64_t seed, const manner& m = {}) {
  const placement where = uneven(comm.size(), most, seed, comm.rank());
  gathered_case<T> one{of(comm, seed, m), where, true};
  const std::span<const T> in = one.mine();
  const std::span<const std::size_t> counts{where.counts}, places{where.displacements};
  if (m.nonblocking)
    await(comm.iallgatherv(in, one.all.span(), counts, places));
  else
    comm.allgatherv(in, one.all.span(), counts, places);
  one.verify(describe<T>("allgatherv", most, comm.rank(), m));
}

/// `count` elements from each rank to each.
template <class T, class Comm>
void check_alltoall(Comm& comm, std::size_t count, std::uint64_t seed, const manner& m = {}) {
  const placement where = even(comm.size(), count);
  alltoall_case<T> one{of(comm, seed, m), where, where};
  const std::span<const T> in = one.in.span();
  if (m.nonblocking)
    await(comm.ialltoall(in, one.out().span()));
  else
    comm.alltoall(in, one.out().span());
  one.verify(describe<T>("alltoall", count, comm.rank(), m));
}
/// Up to `most` elements from each rank to each, with gaps on both sides.
template <class T, class Comm>
void check_alltoallv(Comm& comm, std::size_t most, std::uint64_t seed, const manner& m = {}) {
  const auto [source, target] = uneven_pairs(comm.size(), most, seed, comm.rank());
  participant me = of(comm, seed, m);
  me.in_place = false;
  alltoall_case<T> one{me, source, target};
  const std::span<const T> in = one.in.span();
  const std::span<const std::size_t> given{source.counts}, taken{target.counts};
  const std::span<const std::size_t> from{source.displacements}, to{target.displacements};
  if (m.nonblocking)
    await(comm.ialltoallv(in, given, one.out().span(), taken, from, to));
  else
    comm.alltoallv(in, given, one.out().span(), taken, from, to);
  one.verify(describe<T>("alltoallv", most, comm.rank(), m));
}

}  // namespace collectives
