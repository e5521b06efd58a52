// SPDX-License-Identifier: Apache-2.0
// gather, gatherv and their nonblocking forms.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <chorale/calls/caller.hpp>

namespace chorale::calls {

/// `all` is used at the root only. `in` is this rank's block; only at the root may it be in place.
template <class Caller>
auto gather_blocks(Caller& on, const call& what, const input& in, const output& out, blocks<std::byte> all) {
  std::span<const std::byte> mine = in.bytes;
  on.arguments().check_memory(what.what, in);
  if (on.rank() == what.root) {
    on.arguments().check_memory(what.what, out);
    const auto own = all[what.root];
    if (!in.is_in_place) {
      on.arguments().check_sizes(what.what, own.size(), in.bytes.size(), in.one);
      if (in.bytes.data() != own.data()) on.arguments().check_apart(what.what, in.bytes, out.bytes);
    } else {
      mine = own;
    }
  } else if (in.is_in_place) {
    on.arguments().reject(name(what.what), "only the root gives its block in place");
  }
  return prepared{what, [&on, mine, all = std::move(all), root = what.root,
                         served = what.what == operation::gather ||
                                  serves_uneven<operation::gather, algorithm_of<operation::gather, Caller>>](
                            call_id now) {
                    if (!served) return calls::substitute<operation::gather>(on.net(), now, mine, all, root);
                    return calls::serve<operation::gather>(on, now, mine, all, root);
                  }};
}

template <class Caller>
auto gather(Caller& on, const operands& io, int root) {
  const auto& [in, out] = io;
  on.arguments().check_root(operation::gather, root);
  blocks<std::byte> all;
  std::size_t n = in.bytes.size();
  if (on.rank() == root) {
    const auto ranks = static_cast<std::size_t>(on.size());
    if (in.is_in_place) n = out.bytes.size() / out.one / ranks * out.one;
    on.arguments().check_blocks(operation::gather, n, out.bytes.size(), out.one);
    all = {out.bytes, block_layout::even(on.size(), n)};
  }
  const call what{
      .what = operation::gather, .root = root, .bytes = n, .type = in.is_in_place ? out.type : in.type};
  return calls::gather_blocks(on, what, in, out, std::move(all));
}

template <class Caller>
auto gatherv(Caller& on, const operands& io, std::span<const std::size_t> sizes, int root,
             std::span<const std::size_t> displacements) {
  const auto& [in, out] = io;
  on.arguments().check_root(operation::gatherv, root);
  blocks<std::byte> all;
  if (on.rank() == root)
    all = {out.bytes, calls::uneven_layout(on, operation::gatherv, sizes, displacements, out.bytes.size(),
                                           out.one, true)};
  const call what{.what = operation::gatherv, .root = root, .type = in.is_in_place ? out.type : in.type};
  return calls::gather_blocks(on, what, in, out, std::move(all));
}

}  // namespace chorale::calls
