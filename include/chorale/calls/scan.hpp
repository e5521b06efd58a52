// scan, exscan and their nonblocking forms.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <chorale/calls/element_number.hpp>
#include <chorale/calls/reduce.hpp>
#include <chorale/core/copy_bytes.hpp>

namespace chorale::calls {

/// What a scan reads and writes; both are the same if it is in place.
struct scanned {
  std::span<const std::byte> from;
  std::span<std::byte> to;
};
template <class Caller>
scanned scanned_operands(Caller& on, operation what, const operands& io) {
  on.arguments().check_memory(what, io.out);
  const auto from = calls::separate_operand(on, what, io);
  return {from.empty() ? std::span<const std::byte>{io.out.bytes} : from, io.out.bytes};
}

template <class Caller>
auto scan(Caller& on, const operands& io, named_reduction with) {
  const scanned both = calls::scanned_operands(on, operation::scan, io);
  return prepared{identify_reduction(operation::scan, both.to.size(), io.out.type, with),
                  [&on, both, op = std::move(with.op)](call_id now) {
                    return calls::serve<operation::scan>(on, now, both.from, both.to, op, true);
                  }};
}

/// `one` element, repeated so that it fills `bytes`, or as much as is combined at once.
[[nodiscard]] std::vector<std::byte> repeated(std::span<const std::byte> one, std::size_t bytes);
/// Throws the error of an initial value that is not one element of `one` bytes.
[[noreturn]] void reject_initial(std::size_t given, std::size_t one);

/// The initial value of an exscan into `out`, repeated; empty on ranks other than 0, which do not use it.
template <class In, class Out, class Caller, class Initial>
std::vector<std::byte> initial_of(Caller& on, std::remove_reference_t<Out>& out, const Initial& initial) {
  using Element = argument::element_of<std::conditional_t<argument::is_word<In>, Out, In>>;
  const auto of = [&](std::span<const std::byte> one) {
    if (on.rank() != 0) return std::vector<std::byte>{};
    return calls::or_fail(on.transport(),
                          [&] { return calls::repeated(one, calls::written<Out>(out).bytes.size()); });
  };
  if constexpr (argument::is_elements<Element>) {
    const std::size_t one = calls::written<Out>(out).one;
    const input given = calls::read(initial);
    if (given.bytes.size() != one) calls::reject_initial(given.bytes.size(), one);
    return of(given.bytes);
  } else if constexpr (!element<Element>) {
    return {};
  } else {
    const Element one = calls::as_element<Element>("exscan", initial);
    return of(std::as_bytes(std::span{std::addressof(one), 1}));
  }
}

/// The exclusive scan on rank 0, whose operand becomes op(initial, operand) for the ranks above, and whose
/// result is the initial value.
template <class Algorithm, class Net>
task<> exscan_of_first(Net& net, call_id now, scanned both, std::vector<std::byte> initial, reduction op) {
  const std::span<const std::byte> from = both.from;
  const std::span<std::byte> to = both.to;
  const auto in_pieces = [&](auto&& use) {
    for (std::size_t at = 0; at < to.size(); at += initial.size()) {
      const auto piece = to.subspan(at, std::min(initial.size(), to.size() - at));
      use(std::span<const std::byte>{initial}.first(piece.size()), piece);
    }
  };
  if (from.data() != to.data()) chorale::move_bytes(to, from);
  in_pieces([&](auto left, auto mine) { op.combine_right(left, mine); });
  co_await calls::launch<operation::scan, Algorithm>(net, now, std::span<const std::byte>{to}, to, op, false);
  in_pieces([&](auto left, auto mine) { chorale::move_bytes(mine, left); });
}

/// `initial`: as `initial_of`.
template <class Caller>
auto exscan(Caller& on, const operands& io, std::vector<std::byte> initial, named_reduction with) {
  const scanned both = calls::scanned_operands(on, operation::exscan, io);
  return prepared{identify_reduction(operation::exscan, both.to.size(), io.out.type, with),
                  [&on, both, initial = std::move(initial), op = std::move(with.op)](call_id now) {
                    if (!initial.empty())
                      return calls::exscan_of_first<algorithm_of<operation::scan, Caller>>(on.net(), now,
                                                                                           both, initial, op);
                    return calls::serve<operation::scan>(on, now, both.from, both.to, op, false);
                  }};
}

}  // namespace chorale::calls
