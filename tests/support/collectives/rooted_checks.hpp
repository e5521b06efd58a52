// SPDX-License-Identifier: Apache-2.0
// Gather, scatter and their uneven forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cases.hpp"
#include "manner.hpp"

namespace collectives {

/// Except at the root, the blocks of all ranks and their counts are not used, and may have any size.
template <class Comm>
bool gives_blocks(const Comm& comm, int root, std::uint64_t seed) {
  return comm.rank() == root || seed % 2 == 0;
}

/// `count` elements from each rank to the root.
template <class T, class Comm>
void check_gather(Comm& comm, std::size_t count, int root, std::uint64_t seed, const manner& m = {}) {
  gathered_case<T> one{of(comm, seed, m), even(comm.size(), count), comm.rank() == root};
  const std::span<const T> in = one.mine();
  const std::span<T> out = gives_blocks(comm, root, seed) ? one.all.span() : std::span<T>{};
  if (m.nonblocking)
    await(comm.igather(in, out, chorale::root{root}));
  else
    comm.gather(in, out, chorale::root{root});
  one.verify(describe<T>("gather", count, comm.rank(), m, root));
}
/// Up to `most` elements from each rank to the root, which has gaps between them.
template <class T, class Comm>
void check_gatherv(Comm& comm, std::size_t most, int root, std::uint64_t seed, const manner& m = {}) {
  const placement where = uneven(comm.size(), most, seed, root);
  gathered_case<T> one{of(comm, seed, m), where, comm.rank() == root};
  const std::span<const T> in = one.mine();
  std::span<T> out;
  std::span<const std::size_t> counts, places;
  if (gives_blocks(comm, root, seed)) {
    out = one.all.span();
    counts = where.counts;
    places = where.displacements;
  }
  if (m.nonblocking)
    await(comm.igatherv(in, out, counts, places, chorale::root{root}));
  else
    comm.gatherv(in, out, counts, places, chorale::root{root});
  one.verify(describe<T>("gatherv", most, comm.rank(), m, root));
}

/// `count` elements from the root to each rank.
template <class T, class Comm>
void check_scatter(Comm& comm, std::size_t count, int root, std::uint64_t seed, const manner& m = {}) {
  scatter_case<T> one{of(comm, seed, m), even(comm.size(), count), root};
  const std::span<const T> in = gives_blocks(comm, root, seed) ? one.all.span() : std::span<T>{};
  if (m.nonblocking)
    await(comm.iscatter(in, one.mine(), chorale::root{root}));
  else
    comm.scatter(in, one.mine(), chorale::root{root});
  one.verify(describe<T>("scatter", count, comm.rank(), m, root));
}
/// Up to `most` elements from the root to each rank.
template <class T, class Comm>
void check_scatterv(Comm& comm, std::size_t most, int root, std::uint64_t seed, const manner& m = {}) {
  const placement where = uneven(comm.size(), most, seed, root);
  scatter_case<T> one{of(comm, seed, m), where, root};
  std::span<const T> in;
  std::span<const std::size_t> counts, places;
  if (gives_blocks(comm, root, seed)) {
    in = one.all.span();
    counts = where.counts;
    places = where.displacements;
  }
  if (m.nonblocking)
    await(comm.iscatterv(in, counts, one.mine(), places, chorale::root{root}));
  else
    comm.scatterv(in, counts, one.mine(), places, chorale::root{root});
  one.verify(describe<T>("scatterv", most, comm.rank(), m, root));
}

}  // namespace collectives
