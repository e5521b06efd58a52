// SPDX-License-Identifier: Apache-2.0
// Splits a buffer into pieces that fit into one message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace chorale {

/// Consecutive pieces of `data`, each with as many whole elements as fit into `bytes` (at least one); the
/// last may be shorter. An empty buffer has no pieces.
template <class Element>
class chunks {
 public:
  chunks(std::span<Element> data, std::size_t bytes) noexcept
      : data_(data), step_(std::max<std::size_t>(1, bytes / sizeof(Element))) {}

  class iterator {
   public:
    iterator(std::span<Element> rest, std::size_t step) noexcept : rest_(rest), step_(step) {}
    std::span<Element> operator*() const noexcept { return rest_.first(std::min(step_, rest_.size())); }
    iterator& operator++() noexcept {
      rest_ = rest_.subspan(std::min(step_, rest_.size()));
      return *this;
    }
    bool operator==(const iterator& other) const noexcept { return rest_.size() == other.rest_.size(); }

   private:
    std::span<Element> rest_;
    std::size_t step_;
  };

  [[nodiscard]] iterator begin() const noexcept { return {data_, step_}; }
  [[nodiscard]] iterator end() const noexcept { return {data_.last(0), step_}; }

 private:
  std::span<Element> data_;
  std::size_t step_;
};
template <class Element, std::size_t Extent>
chunks(std::span<Element, Extent>, std::size_t) -> chunks<Element>;

}  // namespace chorale
