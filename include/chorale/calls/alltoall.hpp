// SPDX-License-Identifier: Apache-2.0
// alltoall, alltoallv and their nonblocking forms.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/calls/caller.hpp>

namespace chorale::calls {

template <class Algorithm, class Net>
task<> run_alltoall(Net& net, call_id now, const blocks<const std::byte>& in, const blocks<std::byte>& out) {
  if constexpr (!serves_uneven<operation::alltoall, Algorithm>) {
    if (!in.layout().is_even()) return calls::substitute<operation::alltoall>(net, now, in, out);
  }
  return calls::launch<operation::alltoall, Algorithm>(net, now, in, out);
}

/// Copies `in` first, since incoming blocks would overwrite blocks that have not been sent yet.
template <class Algorithm, class Net>
task<> alltoall_in_place(Net& net, call_id now, blocks<const std::byte> in, blocks<std::byte> out) {
  const std::vector<std::byte> sent(in.buffer().begin(), in.buffer().end());
  const blocks<const std::byte> from{sent, in.layout()};
  co_await calls::run_alltoall<Algorithm>(net, now, from, out);
}

/// Sends the blocks of `from` and receives into those of `to`. `in_place`: both are the same buffer.
template <class Caller>
auto alltoall_blocks(Caller& on, const call& what, blocks<const std::byte> from, blocks<std::byte> to,
                     bool in_place) {
  return prepared{
      what, [&on, from = std::move(from), to = std::move(to), in_place](call_id now) {
        if (in_place && (on.size() > 1 || !to.layout().is_even())) [[unlikely]]
          return calls::alltoall_in_place<algorithm_of<operation::alltoall, Caller>>(on.net(), now, from, to);
        return calls::run_alltoall<algorithm_of<operation::alltoall, Caller>>(on.net(), now, from, to);
      }};
}

template <class Caller>
auto alltoall(Caller& on, operands io) {
  auto& [in, out] = io;
  if (in.is_in_place) in = out.as_input();
  const auto ranks = static_cast<std::size_t>(on.size());
  on.arguments().check_memory(operation::alltoall, in);
  on.arguments().check_memory(operation::alltoall, out);
  on.arguments().check_sizes(operation::alltoall, in.bytes.size(), out.bytes.size(), in.one);
  if (in.bytes.size() / in.one % ranks != 0)
    on.arguments().reject("alltoall", std::to_string(in.bytes.size() / in.one) +
                                          " elements are not one block for each of " + std::to_string(ranks) +
                                          " ranks");
  const bool in_place = on.arguments().check_same_or_apart(operation::alltoall, in.bytes, out.bytes);
  const auto layout = block_layout::even(on.size(), in.bytes.size() / ranks);
  return calls::alltoall_blocks(
      on, call{.what = operation::alltoall, .bytes = in.bytes.size(), .type = in.type},
      blocks<const std::byte>{in.bytes, layout}, blocks<std::byte>{out.bytes, layout}, in_place);
}

/// Sizes and displacements of the blocks on one side, in elements.
struct uneven_blocks {
  std::span<const std::size_t> sizes;
  std::span<const std::size_t> displacements;
};

template <class Caller>
auto alltoallv(Caller& on, operands io, uneven_blocks sent, uneven_blocks taken) {
  auto& [in, out] = io;
  if (in.is_in_place) in = out.as_input();
  on.arguments().check_memory(operation::alltoallv, in);
  on.arguments().check_memory(operation::alltoallv, out);
  const auto rank = static_cast<std::size_t>(on.rank());
  auto from = calls::uneven_layout(on, operation::alltoallv, sent.sizes, sent.displacements, in.bytes.size(),
                                   in.one, false);
  auto to = calls::uneven_layout(on, operation::alltoallv, taken.sizes, taken.displacements, out.bytes.size(),
                                 out.one, true);
  if (sent.sizes[rank] != taken.sizes[rank])
    on.arguments().reject("alltoallv", "this rank sends itself " + std::to_string(sent.sizes[rank]) +
                                           " elements and expects " + std::to_string(taken.sizes[rank]));
  const bool in_place = in.bytes.data() == out.bytes.data() && !in.bytes.empty();
  if (!in_place) on.arguments().check_apart(operation::alltoallv, in.bytes, out.bytes);
  return calls::alltoall_blocks(on, call{.what = operation::alltoallv, .type = out.type},
                                blocks<const std::byte>{in.bytes, std::move(from)},
                                blocks<std::byte>{out.bytes, std::move(to)}, in_place);
}

}  // namespace chorale::calls
