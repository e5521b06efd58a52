// SPDX-License-Identifier: Apache-2.0
// Both operands of a call, contiguous or with strides.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <chorale/calls/operand.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/strided.hpp>
#include <chorale/core/types.hpp>

namespace chorale::calls {

/// Fails to compile, with one readable error, if two operands of a call have different element types.
template <class In, class Out>
constexpr void check_same_elements() {
  using in = std::remove_cvref_t<In>;
  using out = std::remove_cvref_t<Out>;
  if constexpr (!argument::is_word<in> && !argument::is_word<out> && !argument::is_elements<in> &&
                !argument::is_elements<out>)
    static_assert(std::same_as<argument::element_of<In>, argument::element_of<Out>>,
                  "chorale: the elements that this call reads and those that it writes are of different "
                  "types; is the order of the arguments right?");
}

/// Both buffers of a call.
struct operands {
  input in;
  output out;
};
/// Checks the same at run time, for elements whose type is known only then. @throws error
/// errc::invalid_argument.
inline operands with_same_elements(const operands& io) {
  const auto& [in, out] = io;
  if (!in.bytes.empty() && !out.bytes.empty() && (in.one != out.one || in.type != out.type))
    throw error(errc::invalid_argument, "a call reads elements of " + std::to_string(in.one) + " bytes (" +
                                            describe_type(in.type) + ") and writes such of " +
                                            std::to_string(out.one) + " bytes (" + describe_type(out.type) +
                                            ")");
  return io;
}
/// `nothing` and `in_place` take the element size of the other operand.
template <class In, class Out>
operands compared(operands io) {
  if constexpr (argument::is_word<In>) io.in.one = io.out.one;
  if constexpr (argument::is_word<Out>) io.out.one = io.in.one;
  if constexpr (argument::is_elements<std::remove_cvref_t<In>> ||
                argument::is_elements<std::remove_cvref_t<Out>>)
    return with_same_elements(io);
  else
    return io;
}

/// The operand extended to all memory from its first byte to its last; a null pointer is returned unchanged.
template <class Operand>
Operand all_memory(Operand one, const strides& where) noexcept {
  if (one.bytes.data() == nullptr) return one;
  const auto [first, last] = where.range(one.bytes.size());
  one.bytes = {one.bytes.data() + first, static_cast<std::size_t>(last - first)};
  return one;
}

/// Both buffers of a call, at least one of which has strides.
struct strided_operands {
  operands all;  ///< for a strided operand, `bytes` has the first element's address and the packed size
  strides in_where;
  strides out_where;
  input in;    ///< the input, without bytes unless they are contiguous: the memory to be registered
  output out;  ///< the same
};

namespace argument {
template <class Range>
inline constexpr bool has_strides = strided_operand<std::remove_cvref_t<Range>>;

/// Whether a view with strides has elements that can be sent, and, if it is written, changed; a static_assert
/// says in one line why not.
template <class View, bool Written>
constexpr bool is_good_view() {
  static_assert(element<element_of<View>>,
                "chorale: the elements of this view with strides cannot be sent as bytes: an element is a "
                "number, or a trivially copyable aggregate (struct) without pointers");
  using pointed = std::remove_pointer_t<decltype(detail::as_strided(std::declval<const View&>()).data())>;
  static_assert(!Written || !std::is_const_v<pointed>,
                "chorale: this view with strides is to receive, and its elements are const");
  return element<element_of<View>> && !(Written && std::is_const_v<pointed>);
}
}  // namespace argument

/// Erases the type of an argument that a call reads, and says where its elements are.
template <class Range>
input read_spread(const Range& r, strides& where) {
  if constexpr (!argument::has_strides<Range>) {
    return calls::read(r);
  } else if constexpr (argument::is_good_view<Range, false>()) {
    using Element = argument::element_of<Range>;
    const auto view = detail::as_strided(r);
    where = view.where();
    return {{reinterpret_cast<const std::byte*>(view.data()), view.size() * sizeof(Element)},
            sizeof(Element),
            chorale::type_tag<Element>()};
  } else {
    return {};
  }
}
/// The same for an argument that a call writes. @throws error errc::invalid_argument if blocks overlap.
template <class Range>
output written_spread(std::remove_reference_t<Range>& r, strides& where) {
  using plain = std::remove_cvref_t<Range>;
  if constexpr (!argument::has_strides<Range>) {
    return calls::written<Range>(r);
  } else if constexpr (argument::is_good_view<plain, true>()) {
    using Element = argument::element_of<plain>;
    const auto view = detail::as_strided(r);
    where = view.where();
    detail::check_strides_receive(where);
    return {{reinterpret_cast<std::byte*>(view.data()), view.size() * sizeof(Element)},
            sizeof(Element),
            chorale::type_tag<Element>()};
  } else {
    return {};
  }
}

template <class In, class Out>
strided_operands spread(const std::remove_reference_t<In>& in, std::remove_reference_t<Out>& out) {
  strided_operands made;
  made.all.in = calls::read_spread(in, made.in_where);
  made.all.out = calls::written_spread<Out>(out, made.out_where);
  made.all = calls::compared<In, Out>(made.all);
  made.in = made.all.in;
  made.out = made.all.out;
  if (!made.in_where.is_contiguous()) made.in.bytes = {};
  if (!made.out_where.is_contiguous()) made.out.bytes = {};
  return made;
}

/// Erases the types of both: `operands`, or `strided_operands` if one of the two has strides.
template <class In, class Out>
[[gnu::always_inline]] inline auto both(const In& in, std::remove_reference_t<Out>& out) {
  calls::check_same_elements<In, Out>();
  if constexpr (argument::has_strides<In> || argument::has_strides<Out>)
    return calls::spread<In, Out>(in, out);
  else
    return calls::compared<In, Out>({calls::read(in), calls::written<Out>(out)});
}
/// The same for a nonblocking call or a plan.
template <class In, class Out>
auto lasting(const std::remove_reference_t<In>& in, std::remove_reference_t<Out>& out) {
  calls::check_same_elements<In, Out>();
  if constexpr (argument::has_strides<In> || argument::has_strides<Out>) {
    static_assert(argument::lasts<In>,
                  "chorale: a nonblocking call reads its argument until its request is over, a plan at each "
                  "start, and this one is a temporary: keep it in a variable");
    return calls::spread<In, Out>(in, out);
  } else {
    return calls::compared<In, Out>({calls::lasting_input<In>(in), calls::written<Out>(out)});
  }
}
/// The only operand of a broadcast: `output`, or `strided_operands` if it has strides.
template <class Data>
[[gnu::always_inline]] inline auto only(std::remove_reference_t<Data>& data) {
  if constexpr (argument::has_strides<Data>) {
    strided_operands made;
    made.all.out = calls::written_spread<Data>(data, made.out_where);
    if (made.out_where.is_contiguous()) made.out = made.all.out;
    return made;
  } else {
    return calls::written<Data>(data);
  }
}
/// The memory of the operand of a broadcast that a plan keeps registered: none unless it is contiguous.
inline std::span<std::byte> kept_memory(const output& data) {
  return data.bytes;
}
inline std::span<std::byte> kept_memory(const strided_operands& io) {
  return io.out.bytes;
}

}  // namespace chorale::calls
