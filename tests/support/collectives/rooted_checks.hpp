// Gather, scatter and their uneven forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "guarded_buffer.hpp"
#include "manner.hpp"
#include "placement.hpp"

namespace collectives {

namespace detail {

template <class T, class Comm>
void check_gather_of(Comm& comm, const char* name, const placement& where, std::size_t most, bool even_call,
                     int root, std::uint64_t seed, const manner& m) {
  const std::string what = describe<T>(name, most, comm.rank(), m, root);
  const bool is_root = comm.rank() == root;
  const auto value = [&](int block, std::size_t i) { return operand<T>(seed, block, i); };
  const auto gap = [&](std::size_t i) { return gap_value<T>(seed, i); };
  const auto mine = [&](std::size_t i) { return value(comm.rank(), i); };
  guarded_buffer<T> all{where.room, m.misalignment};
  guarded_buffer<T> separate{where.count(comm.rank()), m.misalignment + 1};
  separate.fill_with(mine);
  std::span<const T> in = separate.span();
  if (is_root) {
    all.fill_with(gap);
    if (m.in_place) {
      const auto first = where.first(root);
      for (std::size_t i = 0; i < in.size(); ++i) all.set(first + i, mine(i));
      in = all.span().subspan(first, in.size());
    }
  }
  // Except at the root, `out` and the counts are not used, and may have any size.
  const bool gives = is_root || seed % 2 == 0;
  const std::span<T> out = gives ? all.span() : std::span<T>{};
  const std::span<const std::size_t> counts = gives ? where.counts : std::span<const std::size_t>{};
  const std::span<const std::size_t> places = gives ? where.displacements : std::span<const std::size_t>{};
  if (even_call) {
    if (m.nonblocking)
      await(comm.igather(in, out, root));
    else
      comm.gather(in, out, root);
  } else if (m.nonblocking) {
    await(comm.igatherv(in, out, counts, root, places));
  } else {
    comm.gatherv(in, out, counts, root, places);
  }
  separate.check(what + ": operand", mine);
  if (!is_root) return all.check_untouched(what + ": out");
  const auto image = where.template image<T>(value, gap);
  all.check(what, [&](std::size_t i) { return image[i]; });
}

template <class T, class Comm>
void check_scatter_of(Comm& comm, const char* name, const placement& where, std::size_t most, bool even_call,
                      int root, std::uint64_t seed, const manner& m) {
  const std::string what = describe<T>(name, most, comm.rank(), m, root);
  const bool is_root = comm.rank() == root;
  const bool in_place = is_root && m.in_place;
  const auto value = [&](int block, std::size_t i) { return operand<T>(seed, block, i); };
  const auto gap = [&](std::size_t i) { return gap_value<T>(seed, i); };
  guarded_buffer<T> all{where.room, m.misalignment};
  guarded_buffer<T> separate{where.count(comm.rank()), m.misalignment + 1};
  const auto image = where.template image<T>(value, gap);
  if (is_root) all.fill_with([&](std::size_t i) { return image[i]; });
  const std::span<T> out =
      in_place ? all.span().subspan(where.first(root), where.count(root)) : separate.span();
  const bool gives = is_root || seed % 2 == 0;
  const std::span<const T> in = gives ? all.span() : std::span<T>{};
  const std::span<const std::size_t> counts = gives ? where.counts : std::span<const std::size_t>{};
  const std::span<const std::size_t> places = gives ? where.displacements : std::span<const std::size_t>{};
  if (even_call) {
    if (m.nonblocking)
      await(comm.iscatter(in, out, root));
    else
      comm.scatter(in, out, root);
  } else if (m.nonblocking) {
    await(comm.iscatterv(in, counts, out, root, places));
  } else {
    comm.scatterv(in, counts, out, root, places);
  }
  if (is_root)
    all.check(what + ": operand", [&](std::size_t i) { return image[i]; });
  else
    all.check_untouched(what + ": in");
  if (in_place) return separate.check_untouched(what + ": another buffer");
  separate.check(what, [&](std::size_t i) { return value(comm.rank(), i); });
}

}  // namespace detail

/// `count` elements from each rank to the root.
template <class T, class Comm>
void check_gather(Comm& comm, std::size_t count, int root, std::uint64_t seed, const manner& m = {}) {
  detail::check_gather_of<T>(comm, "gather", even(comm.size(), count), count, true, root, seed, m);
}
/// Up to `most` elements from each rank to the root, which has gaps between them.
template <class T, class Comm>
void check_gatherv(Comm& comm, std::size_t most, int root, std::uint64_t seed, const manner& m = {}) {
  detail::check_gather_of<T>(comm, "gatherv", uneven(comm.size(), most, seed, root), most, false, root, seed,
                             m);
}
/// `count` elements from the root to each rank.
template <class T, class Comm>
void check_scatter(Comm& comm, std::size_t count, int root, std::uint64_t seed, const manner& m = {}) {
  detail::check_scatter_of<T>(comm, "scatter", even(comm.size(), count), count, true, root, seed, m);
}
/// Up to `most` elements from the root to each rank.
template <class T, class Comm>
void check_scatterv(Comm& comm, std::size_t most, int root, std::uint64_t seed, const manner& m = {}) {
  detail::check_scatter_of<T>(comm, "scatterv", uneven(comm.size(), most, seed, root), most, false, root,
                              seed, m);
}

}  // namespace collectives
