// SPDX-License-Identifier: Apache-2.0
// Conversion of numbers to elements of another type.
#pragma once

#include <concepts>
#include <limits>
#include <type_traits>

namespace chorale::calls {

/// Whether every number of type Value is a number of type Element; true for types other than numbers.
template <class Value, class Element>
constexpr bool keeps_all_numbers() {
  if constexpr (std::is_arithmetic_v<Value> && std::is_arithmetic_v<Element>) {
    using from = std::numeric_limits<Value>;
    using to = std::numeric_limits<Element>;
    return from::digits <= to::digits && (to::is_signed || !from::is_signed) &&
           (from::is_integer || !to::is_integer);
  } else {
    return true;
  }
}

/// Throws the error of a call `what` whose number `value` is not a number of its elements.
[[noreturn]] void reject_number(const char* what, long long value);

/// `value` as an element. A type with numbers that Element cannot represent is refused at compile time,
/// except `int`, the type of literals, for integer elements: its value is checked at run time. @throws error
/// errc::invalid_argument, naming `what`.
template <class Element, class Value>
Element as_element(const char* what, const Value& value) {
  constexpr bool keeps_all = calls::keeps_all_numbers<Value, Element>();
  if constexpr (std::same_as<Value, int> && std::integral<Element>) {
    const auto same = static_cast<Element>(value);
    if constexpr (!keeps_all)
      if (static_cast<int>(same) != value || (value < 0 && !std::is_signed_v<Element>)) [[unlikely]]
        calls::reject_number(what, value);
    return same;
  } else {
    static_assert(keeps_all,
                  "chorale: a number of this type may lose its value as an element of this call: convert "
                  "it, as by static_cast<float>(x)");
    return static_cast<Element>(value);
  }
}

}  // namespace chorale::calls
