// SPDX-License-Identifier: Apache-2.0
// scatter, scatterv and their nonblocking forms.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <chorale/calls/caller.hpp>

namespace chorale::calls {

/// `all` is used at the root only. `out` receives this rank's block; only at the root may it be in place.
template <class Caller>
auto scatter_blocks(Caller& on, const call& what, const input& in, const output& out,
                    blocks<const std::byte> all) {
  std::span<std::byte> mine = out.bytes;
  on.arguments().check_memory(what.what, out);
  if (on.rank() == what.root) {
    on.arguments().check_memory(what.what, in);
    const auto own = all[what.root];
    if (!out.is_in_place) {
      on.arguments().check_sizes(what.what, own.size(), out.bytes.size(), out.one);
      if (own.data() != out.bytes.data()) on.arguments().check_apart(what.what, in.bytes, out.bytes);
    } else {
      // The root's own block is in place: algorithms do not copy a block onto itself.
      mine = {const_cast<std::byte*>(own.data()), own.size()};
    }
  } else if (out.is_in_place) {
    on.arguments().reject(name(what.what), "only the root takes its block in place");
  }
  return prepared{
      what,
      [&on, mine, all = std::move(all), root = what.root,
       served = what.what == operation::scatter ||
                serves_uneven<operation::scatter, algorithm_of<operation::scatter, Caller>>](call_id now) {
        if (!served) return calls::substitute<operation::scatter>(on.net(), now, all, mine, root);
        return calls::serve<operation::scatter>(on, now, all, mine, root);
      }};
}

template <class Caller>
auto scatter(Caller& on, const operands& io, int root) {
  const auto& [in, out] = io;
  on.arguments().check_root(operation::scatter, root);
  blocks<const std::byte> all;
  std::size_t n = out.bytes.size();
  if (on.rank() == root) {
    const auto ranks = static_cast<std::size_t>(on.size());
    if (out.is_in_place) n = in.bytes.size() / in.one / ranks * in.one;
    on.arguments().check_blocks(operation::scatter, n, in.bytes.size(), in.one);
    all = {in.bytes, block_layout::even(on.size(), n)};
  }
  const call what{
      .what = operation::scatter, .root = root, .bytes = n, .type = out.is_in_place ? in.type : out.type};
  return calls::scatter_blocks(on, what, in, out, std::move(all));
}

template <class Caller>
auto scatterv(Caller& on, const operands& io, std::span<const std::size_t> sizes, int root,
              std::span<const std::size_t> displacements) {
  const auto& [in, out] = io;
  on.arguments().check_root(operation::scatterv, root);
  blocks<const std::byte> all;
  if (on.rank() == root)
    all = {in.bytes, calls::uneven_layout(on, operation::scatterv, sizes, displacements, in.bytes.size(),
                                          in.one, false)};
  const call what{.what = operation::scatterv, .root = root, .type = out.is_in_place ? in.type : out.type};
  return calls::scatter_blocks(on, what, in, out, std::move(all));
}

}  // namespace chorale::calls
