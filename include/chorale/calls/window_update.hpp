// SPDX-License-Identifier: Apache-2.0
// Atomic updates of elements of a window: by the device if it can, else under the target's lock.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

#include <chorale/core/operators.hpp>

namespace chorale::calls {

/// Updates elements of type Element at byte `offset` of rank `target`'s part of `memory`, a
/// transport::remote_memory. Whether the device or the lock is used depends only on the element type and the
/// address of the part, so all ranks use the same method, as atomicity requires.
template <class Element, class Memory>
class window_update {
 public:
  window_update(Memory& memory, int target, std::size_t offset) noexcept
      : memory_(memory), target_(target), offset_(offset) {}

  /// element[i] = op(element[i], from[i]). If `into` is not empty, into[i] becomes the old value.
  template <class Op>
  void combine(std::span<const Element> from, std::span<Element> into, Op& op) {
    if constexpr (is_word) {
      if (is_native()) {
        for (std::size_t i = 0; i < from.size(); ++i) {
          const Element old = combine_word(offset_ + i * sizeof(Element), from[i], op);
          if (!into.empty()) into[i] = old;
        }
        return;
      }
    }
    constexpr std::size_t stretch = std::max<std::size_t>(65536 / sizeof(Element), 1);
    for (std::size_t first = 0; first < from.size(); first += stretch) {
      const auto part = from.subspan(first, std::min(stretch, from.size() - first));
      memory_.locked(target_, offset_ + first * sizeof(Element), part.size_bytes(),
                     [&](std::span<std::byte> old) {
                       if (!into.empty())
                         std::memcpy(static_cast<void*>(into.data() + first), old.data(), old.size());
                       for (std::size_t i = 0; i < part.size(); ++i) {
                         std::byte* place = old.data() + i * sizeof(Element);
                         Element before = part[i];
                         copy(before, place);
                         const Element result = op(before, part[i]);
                         std::memcpy(place, std::addressof(result), sizeof(Element));
                       }
                       return true;
                     });
    }
  }
  /// Sets the element to `desired` if its bytes equal those of `expected`. @returns the old value.
  Element compare_and_swap(const Element& expected, const Element& desired) {
    static_assert(
        std::has_unique_object_representations_v<Element> || std::same_as<Element, double> ||
            std::same_as<Element, float>,
        "chorale::window: compare_and_swap compares bytes, and equal values of this type may differ "
        "in theirs, as where it has padding: use an integer, or std::bit_cast to one");
    if constexpr (is_word) {
      if (is_native())
        return std::bit_cast<Element>(memory_.compare_swap(
            target_, offset_, std::bit_cast<std::uint64_t>(expected), std::bit_cast<std::uint64_t>(desired)));
    }
    Element old = expected;
    memory_.locked(target_, offset_, sizeof(Element), [&](std::span<std::byte> element) {
      copy(old, element.data());
      if (std::memcmp(element.data(), std::addressof(expected), sizeof(Element)) != 0) return false;
      std::memcpy(element.data(), std::addressof(desired), sizeof(Element));
      return true;
    });
    return old;
  }

 private:
  static constexpr bool is_word = std::integral<Element> && sizeof(Element) == sizeof(std::uint64_t);

  [[nodiscard]] bool is_native() const noexcept {
    return memory_.region(target_).address % sizeof(std::uint64_t) == 0;
  }
  template <class Op>
  Element combine_word(std::size_t offset, const Element& value, Op& op) {
    if constexpr (std::same_as<Op, sum_t>)
      return std::bit_cast<Element>(memory_.fetch_add(target_, offset, std::bit_cast<std::uint64_t>(value)));
    return std::bit_cast<Element>(memory_.update(target_, offset, [&](std::uint64_t old) {
      const Element result = op(std::bit_cast<Element>(old), value);
      return std::bit_cast<std::uint64_t>(result);
    }));
  }
  static void copy(Element& to, const std::byte* from) noexcept {
    std::memcpy(static_cast<void*>(std::addressof(to)), from, sizeof(Element));
  }

  Memory& memory_;
  int target_;
  std::size_t offset_;
};

}  // namespace chorale::calls
