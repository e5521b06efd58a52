// gather, gatherv, scatter, scatterv and their nonblocking forms.
#pragma once

#include <chorale/algorithm/gather/flat.hpp>
#include <chorale/algorithm/scatter/flat.hpp>
#include <chorale/calls/caller.hpp>

namespace chorale::calls {

template <class Base, class Algorithm>
class gather_calls : public Base {
 public:
  using Base::Base;
  using gather_algorithm = Algorithm;

  /// At `root`: out[r * n + i] = in[i] of rank r, where n = in.size() is the same everywhere. Elsewhere `out`
  /// is not touched and may be empty. `in` may be the root's own block of `out`, else they do not overlap.
  template <element T, std::size_t N, std::size_t M>
  void gather(std::span<const T, N> in, std::span<T, M> out, int root = 0) {
    this->run(identify<T>(operation::gather, in.size_bytes(), root), begin<T>(in, out, root));
  }
  template <element T, std::size_t N, std::size_t M>
  request igather(std::span<const T, N> in, std::span<T, M> out, int root = 0) {
    return this->start(identify<T>(operation::gather, in.size_bytes(), root), begin<T>(in, out, root));
  }
  /// The same with counts[r] elements of rank r, which must be what that rank gives. `counts` and
  /// `displacements` (as in `allgatherv`) are those of the root and not looked at elsewhere.
  template <element T, std::size_t N, std::size_t M>
  void gatherv(std::span<const T, N> in, std::span<T, M> out, std::span<const std::size_t> counts,
               int root = 0, std::span<const std::size_t> displacements = {}) {
    this->run(identify<T>(operation::gatherv, 0, root),
              begin_uneven<T>(in, out, counts, displacements, root));
  }
  template <element T, std::size_t N, std::size_t M>
  request igatherv(std::span<const T, N> in, std::span<T, M> out, std::span<const std::size_t> counts,
                   int root = 0, std::span<const std::size_t> displacements = {}) {
    return this->start(identify<T>(operation::gatherv, 0, root),
                       begin_uneven<T>(in, out, counts, displacements, root));
  }

 private:
  template <class T>
  call identify(operation what, std::size_t bytes, int root) const {
    this->check_root(name(what), root);
    return {.what = what, .root = root, .bytes = bytes, .type = type_tag<T>()};
  }
  template <class T>
  auto begin(std::span<const T> in, std::span<T> out, int root) {
    blocks<std::byte> all;
    if (this->rank() == root) {
      this->check_sizes("gather", in.size() * static_cast<std::size_t>(this->size()), out.size());
      all = {std::as_writable_bytes(out), block_layout::even(this->size(), in.size_bytes())};
    }
    return begin_blocks(std::as_bytes(in), std::move(all), root, true);
  }
  template <class T>
  auto begin_uneven(std::span<const T> in, std::span<T> out, std::span<const std::size_t> counts,
                    std::span<const std::size_t> displacements, int root) {
    blocks<std::byte> all;
    if (this->rank() == root) {
      all = {std::as_writable_bytes(out),
             this->template uneven_layout<T>("gatherv", counts, displacements, out.size())};
      this->check_sizes("gatherv", counts[static_cast<std::size_t>(root)], in.size());
    }
    return begin_blocks(std::as_bytes(in), std::move(all), root, false);
  }
  auto begin_blocks(std::span<const std::byte> mine, blocks<std::byte> all, int root, bool even) {
    if (this->rank() == root) this->copy(mine, all[root]);
    return [this, mine, all = std::move(all), root, served = even || Algorithm::uneven](epoch now) {
      if (!served) return launch<gather::flat>(this->net(), now, mine, all, root);
      return launch<Algorithm>(this->net(), now, mine, all, root);
    };
  }
};

template <class Base, class Algorithm>
class scatter_calls : public Base {
 public:
  using Base::Base;
  using scatter_algorithm = Algorithm;

  /// Block r of the root's `in` comes to `out` of rank r; out.size() is the same everywhere, in.size() that
  /// times the number of ranks. Elsewhere `in` is not looked at. `out` may be the root's own block of `in`.
  template <element T, std::size_t N, std::size_t M>
  void scatter(std::span<const T, N> in, std::span<T, M> out, int root = 0) {
    this->run(identify<T>(operation::scatter, out.size_bytes(), root), begin<T>(in, out, root));
  }
  template <element T, std::size_t N, std::size_t M>
  request iscatter(std::span<const T, N> in, std::span<T, M> out, int root = 0) {
    return this->start(identify<T>(operation::scatter, out.size_bytes(), root), begin<T>(in, out, root));
  }
  /// The same with counts[r] elements for rank r, which must be what that rank takes; `counts` and
  /// `displacements` are those of the root.
  template <element T, std::size_t N, std::size_t M>
  void scatterv(std::span<const T, N> in, std::span<const std::size_t> counts, std::span<T, M> out,
                int root = 0, std::span<const std::size_t> displacements = {}) {
    this->run(identify<T>(operation::scatterv, 0, root),
              begin_uneven<T>(in, counts, out, displacements, root));
  }
  template <element T, std::size_t N, std::size_t M>
  request iscatterv(std::span<const T, N> in, std::span<const std::size_t> counts, std::span<T, M> out,
                    int root = 0, std::span<const std::size_t> displacements = {}) {
    return this->start(identify<T>(operation::scatterv, 0, root),
                       begin_uneven<T>(in, counts, out, displacements, root));
  }

 private:
  template <class T>
  call identify(operation what, std::size_t bytes, int root) const {
    this->check_root(name(what), root);
    return {.what = what, .root = root, .bytes = bytes, .type = type_tag<T>()};
  }
  template <class T>
  auto begin(std::span<const T> in, std::span<T> out, int root) {
    blocks<const std::byte> all;
    if (this->rank() == root) {
      this->check_sizes("scatter", out.size() * static_cast<std::size_t>(this->size()), in.size());
      all = {std::as_bytes(in), block_layout::even(this->size(), out.size_bytes())};
    }
    return begin_blocks(std::move(all), std::as_writable_bytes(out), root, true);
  }
  template <class T>
  auto begin_uneven(std::span<const T> in, std::span<const std::size_t> counts, std::span<T> out,
                    std::span<const std::size_t> displacements, int root) {
    blocks<const std::byte> all;
    if (this->rank() == root) {
      all = {std::as_bytes(in),
             this->template uneven_layout<T>("scatterv", counts, displacements, in.size())};
      this->check_sizes("scatterv", counts[static_cast<std::size_t>(root)], out.size());
    }
    return begin_blocks(std::move(all), std::as_writable_bytes(out), root, false);
  }
  auto begin_blocks(blocks<const std::byte> all, std::span<std::byte> mine, int root, bool even) {
    if (this->rank() == root) this->copy(all[root], mine);
    return [this, all = std::move(all), mine, root, served = even || Algorithm::uneven](epoch now) {
      if (!served) return launch<scatter::flat>(this->net(), now, all, mine, root);
      return launch<Algorithm>(this->net(), now, all, mine, root);
    };
  }
};

}  // namespace chorale::calls
