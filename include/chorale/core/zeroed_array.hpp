// SPDX-License-Identifier: Apache-2.0
// An array that takes memory only where it is written.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace chorale::detail {

/// Allocates `bytes` zero bytes, aligned for any type. Large blocks take memory page by page as they are
/// written. @throws std::bad_alloc.
[[nodiscard]] void* take_zeroed(std::size_t bytes);
/// Frees what `take_zeroed` returned for `bytes`.
void give_back_zeroed(void* memory, std::size_t bytes) noexcept;

/// `count` elements, initially all zero bytes, which must be a valid `Element`. The operating system provides
/// pages of a large array as they are written, so that an array with an element for each rank of a large
/// group takes memory only for the ranks with which this one communicates. Elements in different places may
/// be used by different threads.
template <class Element>
requires(std::is_trivially_copyable_v<Element> && std::is_trivially_destructible_v<Element>)
class zeroed_array {
 public:
  /// @throws std::bad_alloc.
  explicit zeroed_array(std::size_t count)
      : elements_(static_cast<Element*>(take_zeroed(count * sizeof(Element))), {count}) {}

  [[nodiscard]] std::size_t size() const noexcept { return elements_.get_deleter().count; }
  [[nodiscard]] Element& operator[](std::size_t index) noexcept { return elements_.get()[index]; }
  [[nodiscard]] const Element& operator[](std::size_t index) const noexcept { return elements_.get()[index]; }
  [[nodiscard]] Element* begin() const noexcept { return elements_.get(); }
  [[nodiscard]] Element* end() const noexcept { return elements_.get() + size(); }

 private:
  struct given_back {
    std::size_t count;
    void operator()(Element* elements) const noexcept {
      detail::give_back_zeroed(elements, count * sizeof(Element));
    }
  };
  std::unique_ptr<Element, given_back> elements_;
};

}  // namespace chorale::detail
