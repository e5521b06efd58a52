// SPDX-License-Identifier: Apache-2.0
// A queue that takes no memory while it is unused.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace chorale::simulation::device {

/// First in, first out, with random access. It grows to the largest number of entries so far: a large
/// simulation has millions of queue pairs, and most of their queues are hardly used.
template <class T>
class ring {
 public:
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] T& operator[](std::size_t index) noexcept {
    return entries_[(first_ + index) & (entries_.size() - 1)];
  }
  [[nodiscard]] T& front() noexcept { return (*this)[0]; }
  [[nodiscard]] T& back() noexcept { return (*this)[size_ - 1]; }

  void push_back(T entry) {
    if (size_ == entries_.size()) grow();
    (*this)[size_] = std::move(entry);
    ++size_;
  }
  T pop_front() noexcept {
    T entry = std::exchange(front(), T{});
    first_ = (first_ + 1) & (entries_.size() - 1);
    --size_;
    return entry;
  }
  /// Also frees the memory.
  void clear() noexcept {
    entries_ = {};
    first_ = size_ = 0;
  }
  template <class Predicate>
  void erase_if(Predicate is_bad) noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      if (is_bad((*this)[i])) continue;
      if (kept != i) (*this)[kept] = std::move((*this)[i]);
      ++kept;
    }
    for (std::size_t i = kept; i < size_; ++i) (*this)[i] = T{};
    size_ = kept;
  }

 private:
  void grow() {
    std::vector<T> larger(entries_.empty() ? 4 : 2 * entries_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    entries_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> entries_;  ///< none, or a power of two
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace chorale::simulation::device
