// SPDX-License-Identifier: Apache-2.0
// scan, exscan and their nonblocking forms.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <chorale/algorithm/scratch.hpp>
#include <chorale/calls/element_number.hpp>
#include <chorale/calls/reduce.hpp>
#include <chorale/core/arguments.hpp>
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

/// The bytes of one element, which a call keeps; only long ones use the heap.
class initial_bytes {
 public:
  initial_bytes() = default;  ///< of a rank that does not use them
  explicit initial_bytes(std::span<const std::byte> one) : size_(one.size()) {
    if (size_ > short_.size()) long_.resize(size_);
    std::copy(one.begin(), one.end(), long_.empty() ? short_.data() : long_.data());
  }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return {long_.empty() ? short_.data() : long_.data(), size_};
  }

 private:
  std::size_t size_ = 0;
  std::array<std::byte, 32> short_{};
  std::vector<std::byte> long_;
};
/// How many bytes of that element, repeated, are combined at once with `bytes` of operands.
[[nodiscard]] std::size_t repeated_bytes(std::size_t one, std::size_t bytes) noexcept;
/// Fills `room` with `one` element, repeated.
void repeat(std::span<const std::byte> one, std::span<std::byte> room) noexcept;
/// Throws the error of an initial value that is not one element of `one` bytes.
[[noreturn]] void reject_initial(std::size_t given, std::size_t one);

template <class Argument>
inline constexpr bool is_initial = false;
template <class Value>
inline constexpr bool is_initial<initial<Value>> = true;

/// The initial value of an exscan into `out`; empty on ranks other than 0, which do not use it.
template <class In, class Out, class Caller, class Initial>
initial_bytes initial_of(Caller& on, std::remove_reference_t<Out>& out, const Initial& first) {
  using Element = argument::element_of<std::conditional_t<argument::is_word<In>, Out, In>>;
  const auto of = [&](std::span<const std::byte> one) {
    if (on.rank() != 0) return initial_bytes{};
    return calls::or_fail(on.transport(), [&] { return initial_bytes{one}; });
  };
  if constexpr (!is_initial<Initial>) {
    static_assert(is_initial<Initial>,
                  "chorale: the initial value of an exscan is given as chorale::initial{0}; is the order of "
                  "the arguments right?");
    return {};
  } else if constexpr (argument::is_elements<Element>) {
    const std::size_t one = calls::written<Out>(out).one;
    const input given = calls::read(first.value);
    if (given.bytes.size() != one) calls::reject_initial(given.bytes.size(), one);
    return of(given.bytes);
  } else if constexpr (!element<Element>) {
    return {};
  } else {
    const Element one = calls::as_element<Element>("exscan", first.value);
    return of(std::as_bytes(std::span{std::addressof(one), 1}));
  }
}

/// The exclusive scan on rank 0, whose operand becomes op(initial, operand) for the ranks above, and whose
/// result is the initial value.
template <class Algorithm, class Net>
task<> exscan_of_first(Net& net, call_id now, scanned both, initial_bytes first, reduction op) {
  const std::span<const std::byte> from = both.from;
  const std::span<std::byte> to = both.to;
  const std::size_t at_once = calls::repeated_bytes(first.bytes().size(), to.size());
  // A single element is used where it is stored, without a copy.
  const auto room = chorale::scratch_of(net, at_once > first.bytes().size() ? at_once : 0);
  calls::repeat(first.bytes(), room.memory());
  const std::span<const std::byte> all = room.memory().empty() ? first.bytes() : room.memory();
  const auto in_pieces = [&](auto&& use) {
    for (std::size_t at = 0; at < to.size(); at += all.size()) {
      const auto piece = to.subspan(at, std::min(all.size(), to.size() - at));
      use(all.first(piece.size()), piece);
    }
  };
  if (from.data() != to.data()) chorale::move_bytes(to, from);
  in_pieces([&](auto left, auto mine) { op.combine_right(left, mine); });
  co_await calls::launch<operation::scan, Algorithm>(net, now, std::span<const std::byte>{to}, to, op, false);
  in_pieces([&](auto left, auto mine) { chorale::move_bytes(mine, left); });
}

/// `first`: as `initial_of`.
template <class Caller>
auto exscan(Caller& on, const operands& io, initial_bytes first, named_reduction with) {
  const scanned both = calls::scanned_operands(on, operation::exscan, io);
  return prepared{identify_reduction(operation::exscan, both.to.size(), io.out.type, with),
                  [&on, both, first = std::move(first), op = std::move(with.op)](call_id now) {
                    if (!first.bytes().empty())
                      return calls::exscan_of_first<algorithm_of<operation::scan, Caller>>(on.net(), now,
                                                                                           both, first, op);
                    return calls::serve<operation::scan>(on, now, both.from, both.to, op, false);
                  }};
}

}  // namespace chorale::calls
