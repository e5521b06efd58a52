// SPDX-License-Identifier: Apache-2.0
// allgather, allgatherv and their nonblocking forms.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <chorale/calls/caller.hpp>
#include <chorale/core/copy_bytes.hpp>

namespace chorale::calls {

/// Gathers into `all`. This rank's block is copied there when the call starts, unless it is in place already.
template <class Caller>
auto allgather_blocks(Caller& on, operation what, const input& in, const output& out, blocks<std::byte> all) {
  on.arguments().check_memory(what, in);
  on.arguments().check_memory(what, out);
  const auto mine = all[on.rank()];
  std::span<const std::byte> from;
  if (!in.is_in_place) {
    on.arguments().check_sizes(what, mine.size(), in.bytes.size(), out.one);
    if (in.bytes.data() != mine.data()) {
      on.arguments().check_apart(what, in.bytes, out.bytes);
      from = in.bytes;
    }
  }
  call identity{.what = what, .bytes = mine.size(), .type = out.type};
  if (what == operation::allgatherv) {
    identity.bytes = all.layout().total();
    identity.counts = all.layout().counts();
  }
  return prepared{
      identity, [&on, from, mine, all = std::move(all)](call_id now) {
        chorale::place_own(from, mine);
        if constexpr (!serves_uneven<operation::allgather, algorithm_of<operation::allgather, Caller>>) {
          if (!all.layout().is_even()) return calls::substitute<operation::allgather>(on.net(), now, all);
        }
        return calls::serve<operation::allgather>(on, now, all);
      }};
}

template <class Caller>
auto allgather(Caller& on, const operands& io) {
  const auto& [in, out] = io;
  const auto ranks = static_cast<std::size_t>(on.size());
  const std::size_t n = in.is_in_place ? out.bytes.size() / out.one / ranks * out.one : in.bytes.size();
  on.arguments().check_blocks(operation::allgather, n, out.bytes.size(), out.one);
  return calls::allgather_blocks(on, operation::allgather, in, out,
                                 blocks<std::byte>{out.bytes, block_layout::even(on.size(), n)});
}

template <class Caller>
auto allgatherv(Caller& on, const operands& io, std::span<const std::size_t> sizes,
                std::span<const std::size_t> displacements) {
  const auto& [in, out] = io;
  return calls::allgather_blocks(
      on, operation::allgatherv, in, out,
      blocks<std::byte>{out.bytes, calls::uneven_layout(on, operation::allgatherv, sizes, displacements,
                                                        out.bytes.size(), out.one, true)});
}

}  // namespace chorale::calls
