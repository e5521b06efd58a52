// SPDX-License-Identifier: Apache-2.0
// Minimum and maximum with their location.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <chorale/core/operators.hpp>
#include <chorale/core/types.hpp>

namespace chorale {

/// A value and its location: a rank, an index, or anything that the ranks agree on. For `min_at` and
/// `max_at`: `comm.allreduce(placed{error, comm.rank()}, max_at)`.
template <class Element>
struct placed {
  Element value;       ///< the value to compare
  std::int64_t place;  ///< its location, such as a rank or an index
  friend constexpr bool operator==(const placed&, const placed&) = default;
};
template <class Element>
placed(Element, std::int64_t) -> placed<Element>;

namespace detail {
// Ranks may mix std::pair and `placed`, since they have the same memory layout.
template <class Element>
struct pair_parts<placed<Element>> {
  static constexpr bool exist = true;
  using first = Element;
  using second = std::int64_t;
};
template <class Element>
inline constexpr bool parts_are_elements<placed<Element>> = element<Element>;
template <class Element>
inline constexpr bool has_place = false;
template <class Element>
inline constexpr bool has_place<placed<Element>> = true;
template <class Element, std::integral Place>
inline constexpr bool has_place<std::pair<Element, Place>> = !std::same_as<Place, bool>;

template <class Element>
constexpr const Element& value_of(const placed<Element>& at) noexcept {
  return at.value;
}
template <class Element, class Place>
constexpr const Element& value_of(const std::pair<Element, Place>& at) noexcept {
  return at.first;
}
template <class Element>
constexpr std::int64_t place_of(const placed<Element>& at) noexcept {
  return at.place;
}
template <class Element, class Place>
constexpr Place place_of(const std::pair<Element, Place>& at) noexcept {
  return at.second;
}

/// Whether `right` comes before `left` in the order that `before` defines on values.
template <class Element, class Before>
constexpr bool right_goes_first(const Element& left, const Element& right, const Before& before) {
  const auto& l = detail::value_of(left);
  const auto& r = detail::value_of(right);
  if constexpr (floating<std::remove_cvref_t<decltype(l)>>) {
    if ((l != l) != (r != r)) return r != r;
  }
  if (before(r, l)) return true;
  if (before(l, r)) return false;
  return detail::place_of(right) < detail::place_of(left);
}
}  // namespace detail

/// An element with its location is an element.
template <class Element>
inline constexpr bool enable_element<placed<Element>> = true;

/// Of two `placed`, or two std::pair of a value and an integer: the one with the smaller value by operator<;
/// for equal values, the smaller place. Floating point: NaN is selected before all numbers; -0 and +0 are
/// equal.
struct min_at_t {
  template <class Element>
  requires detail::has_place<Element> && requires(const Element& at) {
    { detail::value_of(at) < detail::value_of(at) } -> std::convertible_to<bool>;
  } constexpr Element operator()(const Element& a, const Element& b) const {
    return detail::right_goes_first(a, b, [](const auto& x, const auto& y) { return x < y; }) ? b : a;
  }
};

/// Of two `placed`, or two std::pair of a value and an integer: the one with the larger value by operator<;
/// for equal values, the smaller place. Floating point: NaN is selected before all numbers; -0 and +0 are
/// equal.
struct max_at_t {
  template <class Element>
  requires detail::has_place<Element> && requires(const Element& at) {
    { detail::value_of(at) < detail::value_of(at) } -> std::convertible_to<bool>;
  } constexpr Element operator()(const Element& a, const Element& b) const {
    return detail::right_goes_first(a, b, [](const auto& x, const auto& y) { return y < x; }) ? b : a;
  }
};

inline constexpr min_at_t min_at{};  ///< The smallest value and its place.
inline constexpr max_at_t max_at{};  ///< The largest value and its place.

}  // namespace chorale
