// The arguments of a window's operations: ranges and values of its elements, or one readable error.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <chorale/core/lean_ranges.hpp>
#include <chorale/core/types.hpp>

namespace chorale::calls {

namespace window_argument {

template <class R>
concept contiguous = std::ranges::contiguous_range<R> && std::ranges::sized_range<R>;

/// What R refers to, const or not.
template <class R>
struct pointed_at : std::type_identity<void> {};
template <class R>
requires contiguous<R&> struct pointed_at<R>
    : std::type_identity<std::remove_reference_t<decltype(*std::ranges::data(std::declval<R&>()))>> {};
template <class R>
using element_at = typename pointed_at<std::remove_reference_t<R>>::type;

/// True if the memory of an argument of this type outlives the statement.
template <class R>
inline constexpr bool lasts =
    std::is_lvalue_reference_v<R> || std::ranges::enable_borrowed_range<std::remove_cvref_t<R>>;

/// Says in one line why R is no range of elements of T, and is then false.
template <class T, class R>
constexpr bool is_range_of() {
  using plain = std::remove_reference_t<R>;
  if constexpr (!contiguous<plain&>) {
    static_assert(contiguous<plain&>,
                  "chorale::window: this argument is no contiguous range of the window's elements: pass a "
                  "std::vector, std::array, std::span, C array or device_array; is the order of the "
                  "arguments right?");
    return false;
  } else {
    constexpr bool fits = std::same_as<std::remove_const_t<element_at<R>>, T>;
    static_assert(fits, "chorale::window: the elements of this range are not those of the window");
    return fits;
  }
}

/// A single element, given as a value that converts to one without loss of a fraction.
template <class V, class T>
concept value_of = std::convertible_to<const V&, T> && !contiguous<const V&> &&
                   !(std::floating_point<V> && std::integral<T>);

}  // namespace window_argument

/// Elements of T that an operation reads: a range, or `{}` for none. `Later`: until the next flush.
template <class T, bool Later>
class window_source {
 public:
  constexpr window_source() = default;
  template <class R>
  requires(!std::same_as<std::remove_cvref_t<R>, window_source>)  //
  constexpr window_source(R&& r)                                  // implicit: it stands for any range
      : elements_(to_span<R>(r)) {}
  [[nodiscard]] constexpr std::span<const T> elements() const noexcept { return elements_; }

 private:
  template <class R>
  static constexpr std::span<const T> to_span(std::remove_reference_t<R>& r) {
    if constexpr (!window_argument::is_range_of<T, R>()) {
      return {};
    } else {
      static_assert(!Later || window_argument::lasts<R>,
                    "chorale::window: a put reads its source until the next flush, and this one is a "
                    "temporary: keep it in a variable");
      return {std::ranges::data(r), std::ranges::size(r)};
    }
  }

  std::span<const T> elements_;
};

/// Elements of T that an operation writes, or that a window exposes.
template <class T>
class window_target {
 public:
  template <class R>
  requires(!std::same_as<std::remove_cvref_t<R>, window_target>)  //
  constexpr window_target(R&& r)                                  // implicit: it stands for any range
      : elements_(to_span<R>(r)) {}
  [[nodiscard]] constexpr std::span<T> elements() const noexcept { return elements_; }

 private:
  template <class R>
  static constexpr std::span<T> to_span(std::remove_reference_t<R>& r) {
    if constexpr (!window_argument::is_range_of<T, R>()) {
      return {};
    } else {
      constexpr bool writable = !std::is_const_v<window_argument::element_at<R>>;
      static_assert(writable, "chorale::window: this range is to be written to, and is const");
      static_assert(window_argument::lasts<R>,
                    "chorale::window: this range is to be written to, and is a temporary: what comes would "
                    "be lost");
      if constexpr (writable)
        return {std::ranges::data(r), std::ranges::size(r)};
      else
        return {};
    }
  }

  std::span<T> elements_;
};

}  // namespace chorale::calls
