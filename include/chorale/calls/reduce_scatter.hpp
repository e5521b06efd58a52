// SPDX-License-Identifier: Apache-2.0
// reduce_scatter, with equal or different block sizes, and its nonblocking forms.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <chorale/calls/reduce.hpp>
#include <chorale/core/copy_bytes.hpp>

namespace chorale::calls {

/// For an `out` that is this rank's block of `in`. Algorithms still read `in` after they have begun to write
/// `out`, so the result is written to a separate buffer first.
template <class Algorithm, class Net>
task<> reduce_scatter_in_place(Net& net, call_id now, blocks<const std::byte> in, std::span<std::byte> out,
                               reduction op) {
  std::vector<std::byte> result(out.size());
  co_await calls::launch<operation::reduce_scatter, Algorithm>(net, now, in, std::span<std::byte>{result},
                                                               op);
  move_bytes(out, result);
}

template <class Caller>
auto reduce_blocks(Caller& on, input in, output out, block_layout layout, named_reduction with) {
  on.arguments().check_memory(operation::reduce_scatter, in);
  on.arguments().check_memory(operation::reduce_scatter, out);
  blocks<const std::byte> all{in.bytes, std::move(layout)};
  const bool aliased =
      on.arguments().check_same_or_apart(operation::reduce_scatter, all[on.rank()], out.bytes);
  if (!aliased) on.arguments().check_apart(operation::reduce_scatter, in.bytes, out.bytes);
  call what = identify_reduction(operation::reduce_scatter, all.layout().total(), in.type, with);
  if (!all.layout().is_even()) what.counts = all.layout().counts();
  return prepared{what,
                  [&on, all = std::move(all), to = out.bytes, op = std::move(with.op), aliased](call_id now) {
                    if (op.element_bytes() > on.net().block_bytes()) [[unlikely]]
                      return calls::substitute<operation::reduce_scatter>(on.net(), now, all, to, op);
                    if (aliased && !to.empty())
                      return calls::reduce_scatter_in_place<algorithm_of<operation::reduce_scatter, Caller>>(
                          on.net(), now, all, to, op);
                    return calls::serve<operation::reduce_scatter>(on, now, all, to, op);
                  }};
}

/// Blocks of equal size. In place, `out` holds all blocks, and this rank's block becomes the result.
template <class Caller>
auto reduce_scatter(Caller& on, operands io, named_reduction with) {
  auto& [in, out] = io;
  const auto ranks = static_cast<std::size_t>(on.size());
  if (in.is_in_place) {
    in = out.as_input();
    const std::size_t n = out.bytes.size() / out.one / ranks * out.one;
    out.bytes = out.bytes.subspan(static_cast<std::size_t>(on.rank()) * n, n);
  }
  on.arguments().check_blocks(operation::reduce_scatter, out.bytes.size(), in.bytes.size(), in.one);
  return calls::reduce_blocks(on, in, out, block_layout::even(on.size(), out.bytes.size()), std::move(with));
}

/// Blocks of different sizes, one after the other.
template <class Caller>
auto reduce_scatter(Caller& on, operands io, std::span<const std::size_t> sizes, named_reduction with) {
  auto& [in, out] = io;
  const bool in_place = in.is_in_place;
  if (in_place) in = out.as_input();
  auto layout =
      calls::uneven_layout(on, operation::reduce_scatter, sizes, {}, in.bytes.size(), in.one, false);
  const extent mine = layout[on.rank()];
  if (in_place) out.bytes = out.bytes.subspan(mine.offset, mine.bytes);
  on.arguments().check_sizes(operation::reduce_scatter, mine.bytes, out.bytes.size(), in.one);
  return calls::reduce_blocks(on, in, out, std::move(layout), std::move(with));
}

}  // namespace chorale::calls
