// SPDX-License-Identifier: Apache-2.0
// An array that takes memory only where it is written.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace chorale::detail {

/// `count` elements, each of zero bytes at first. The operating system provides pages of a large array as
/// they are written, so that one element for each rank of a large group costs what the few ranks that this
/// one communicates with take. Zero bytes must be a valid `Element`. Elements in different places may be used
/// by different threads.
template <class Element>
requires(std::is_trivially_copyable_v<Element> && std::is_trivially_destructible_v<Element>)
class zeroed_array {
 public:
  /// @throws std::bad_alloc.
  explicit zeroed_array(std::size_t count)
      : elements_(static_cast<Element*>(std::calloc(count, sizeof(Element)))), count_(count) {
    if (elements_ == nullptr && count != 0) throw std::bad_alloc{};
  }

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] Element& operator[](std::size_t index) noexcept { return elements_.get()[index]; }
  [[nodiscard]] const Element& operator[](std::size_t index) const noexcept { return elements_.get()[index]; }
  [[nodiscard]] Element* begin() const noexcept { return elements_.get(); }
  [[nodiscard]] Element* end() const noexcept { return elements_.get() + count_; }

 private:
  struct freed {
    void operator()(Element* elements) const noexcept { std::free(elements); }
  };
  std::unique_ptr<Element, freed> elements_;
  std::size_t count_;
};

}  // namespace chorale::detail
