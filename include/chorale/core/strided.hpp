// SPDX-License-Identifier: Apache-2.0
// Operands whose elements are not contiguous: halo faces, columns, blocks of matrices.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include <chorale/core/strides.hpp>
#include <chorale/core/types.hpp>

namespace chorale {

namespace detail {
/// The address of the first element of a range, or a pointer itself.
template <class Data>
constexpr auto first_of(Data& data) noexcept {
  if constexpr (std::ranges::range<Data>)
    return std::ranges::data(data);
  else
    return static_cast<std::remove_cv_t<Data>>(data);
}
/// A pointer to elements, or a contiguous range of them that is not a temporary.
template <class Data, class Element>
concept pointer_or_range = std::convertible_to<decltype(detail::first_of(std::declval<Data&>())), Element*> &&
                           (std::is_pointer_v<std::remove_cvref_t<Data>> ||
                            std::is_lvalue_reference_v<Data> || std::ranges::borrowed_range<Data>);
}  // namespace detail

/// A view of blocks of elements at regular distances, as an operand of calls: of a matrix of `rows` rows and
/// `columns` columns, `strided(matrix, rows, 2, columns)` are the first two columns, `strided{&cube[at],
/// {{depth, plane}, {height, row}}}` a face of a cube. It stands for its elements in the order of its loops,
/// the innermost fastest, and matches contiguous operands of as many elements. It refers to elements that
/// must outlive the call, but may itself be a temporary.
template <class Element>
class strided {
 public:
  using element_type = Element;  ///< const for an operand that is only read

  /// `count` blocks of `block` elements, each beginning `stride` elements after the one before; `data` is a
  /// pointer to the first element, or a contiguous range that begins with it. @throws error
  /// errc::invalid_argument if the number of bytes overflows, or they do not fit into the range.
  template <detail::pointer_or_range<Element> Data, std::integral Count, std::integral Block,
            std::integral Stride>
  strided(Data&& data, Count count, Block block, Stride stride)
      : strided(data, {steps{count, stride}}, block) {}
  /// Blocks of `block` elements in nested loops, the outermost first, of which at most five have more than
  /// one step. @throws error errc::invalid_argument for more, and as above.
  template <detail::pointer_or_range<Element> Data, std::integral Block = int>
  strided(Data&& data, std::initializer_list<steps> loops, Block block = 1)
      : strided(data, std::span<const steps>{loops.begin(), loops.size()}, block) {}
  /// The same for loops that are computed.
  template <detail::pointer_or_range<Element> Data, std::integral Block = int>
  strided(Data&& data, std::span<const steps> loops, Block block = 1)
      : first_(detail::first_of(data)),
        bytes_(detail::bytes_of_steps(loops, static_cast<std::size_t>(block), sizeof(Element))),
        where_(loops, static_cast<std::size_t>(block), sizeof(Element)) {
    if constexpr (std::ranges::range<Data>)
      detail::check_strides_fit(where_, bytes_, std::ranges::size(data) * sizeof(Element));
  }

  [[nodiscard]] Element* data() const noexcept { return first_; }  ///< The first element.
  /// The number of elements.
  [[nodiscard]] std::size_t size() const noexcept { return bytes_ / sizeof(Element); }
  [[nodiscard]] const strides& where() const noexcept { return where_; }  ///< In bytes.

 private:
  Element* first_;
  std::size_t bytes_;
  strides where_;
};
template <class Data, class... Others>
strided(Data&& data, Others...) -> strided<std::remove_pointer_t<decltype(detail::first_of(data))>>;
template <class Data, class Block = int>
strided(Data&& data, std::initializer_list<steps>, Block = 1)
    -> strided<std::remove_pointer_t<decltype(detail::first_of(data))>>;

namespace detail {
template <class Element>
inline constexpr bool parts_are_elements<strided<Element>> = false;

template <class View>
inline constexpr bool is_strided = false;
template <class Element>
inline constexpr bool is_strided<strided<Element>> = true;
}  // namespace detail

/// A view of several dimensions, as std::mdspan: `data_handle()`, a pointer, `View::rank()`,
/// `extents().extent(i)` and `stride(i)` in elements. As an operand it stands for its elements in the order
/// of their indices, the last index fastest.
template <class View>
concept multidimensional_view =
    !std::ranges::contiguous_range<View> && requires(const View& view, std::size_t i) {
      requires std::is_object_v<std::remove_pointer_t<decltype(view.data_handle())>>;
      requires std::is_pointer_v<decltype(view.data_handle())>;
      { View::rank() } -> std::convertible_to<std::size_t>;
      { view.extents().extent(i) } -> std::convertible_to<std::size_t>;
      { view.stride(i) } -> std::convertible_to<std::ptrdiff_t>;
    };

/// An operand with strides: a `strided`, or a view such as std::mdspan.
template <class View>
concept strided_operand = detail::is_strided<View> || multidimensional_view<View>;

namespace detail {
/// The view as a `strided`. @throws error as its constructor.
template <strided_operand View>
auto as_strided(const View& view) {
  if constexpr (is_strided<View>) {
    return view;
  } else {
    static_assert(View::rank() <= strides::most_dimensions,
                  "chorale: a view with strides has at most five dimensions");
    std::array<steps, View::rank() + 1> loops{};
    for (std::size_t i = 0; i < View::rank(); ++i)
      loops[i] = {static_cast<std::size_t>(view.extents().extent(i)),
                  static_cast<std::ptrdiff_t>(view.stride(i))};
    return strided{view.data_handle(), std::span<const steps>{loops.data(), View::rank()}};
  }
}
}  // namespace detail

}  // namespace chorale
