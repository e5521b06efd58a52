// SPDX-License-Identifier: Apache-2.0
// reduce, allreduce and their nonblocking forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <chorale/calls/caller.hpp>

namespace chorale::calls {

inline call identify_reduction(operation what, std::size_t bytes, std::uint32_t type,
                               const named_reduction& with, int root = -1) noexcept {
  return {.what = what, .root = root, .bytes = bytes, .type = type, .reduction = with.tag};
}

/// The checked input buffer of a call with separate input and output; empty if the call is in place.
template <class Caller>
std::span<const std::byte> separate_operand(Caller& on, operation what, const operands& io) {
  const auto& [in, out] = io;
  if (in.is_in_place) return {};
  on.arguments().check_sizes(what, in.bytes.size(), out.bytes.size(), out.one);
  on.arguments().check_memory(what, in);
  on.arguments().check_memory(what, out);
  on.arguments().check_same_or_apart(what, in.bytes, out.bytes);
  return in.bytes;
}
/// Inline, so that it costs nothing to tell whether the call is in place.
template <class Caller>
[[gnu::always_inline]] inline auto allreduce(Caller& on, const operands& io, named_reduction with) {
  on.arguments().check_memory(operation::allreduce, io.out);
  std::span<const std::byte> from = calls::separate_operand(on, operation::allreduce, io);
  if (from.empty()) from = io.out.bytes;
  const call what = identify_reduction(operation::allreduce, io.out.bytes.size(), io.out.type, with);
  return prepared{what, [&on, from, to = io.out.bytes, op = std::move(with.op)](call_id now) {
                    if (op.element_bytes() > on.net().block_bytes()) [[unlikely]]
                      return calls::substitute<operation::allreduce>(on.net(), now, from, to, op);
                    return calls::serve<operation::allreduce>(on, now, from, to, op);
                  }};
}

template <class Caller>
auto reduce(Caller& on, operands io, named_reduction with, int root) {
  auto& [in, out] = io;
  on.arguments().check_root(operation::reduce, root);
  if (in.is_in_place) in = out.as_input();
  on.arguments().check_memory(operation::reduce, in);
  if (on.rank() == root) {
    on.arguments().check_memory(operation::reduce, out);
    on.arguments().check_sizes(operation::reduce, in.bytes.size(), out.bytes.size(), in.one);
    on.arguments().check_same_or_apart(operation::reduce, in.bytes, out.bytes);
  }
  const call what = identify_reduction(operation::reduce, in.bytes.size(), in.type, with, root);
  return prepared{what, [&on, from = in.bytes, to = out.bytes, op = std::move(with.op), root](call_id now) {
                    if (op.element_bytes() > on.net().block_bytes()) [[unlikely]]
                      return calls::substitute<operation::reduce>(on.net(), now, from, to, op, root);
                    return calls::serve<operation::reduce>(on, now, from, to, op, root);
                  }};
}

}  // namespace chorale::calls
