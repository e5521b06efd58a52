// SPDX-License-Identifier: Apache-2.0
// Aligned memory for measurements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace chorale::bench {

/// `count` floats at the start of a page, followed by two unused pages. The speed of copies depends on the
/// addresses: some processors copy several times slower if the destination is a few bytes after the source,
/// modulo the page size. Therefore all programs that are compared align their buffers in the same way.
class aligned_floats {
 public:
  /// `count` floats, each `value`.
  explicit aligned_floats(std::size_t count, float value = 0)
      : count_(count), data_(static_cast<float*>(std::aligned_alloc(page, whole_pages(count)))) {
    if (data_ == nullptr) throw std::bad_alloc{};
    std::fill_n(data_.get(), whole_pages(count) / sizeof(float), value);
  }
  [[nodiscard]] float* data() const noexcept { return data_.get(); }                 ///< The first element.
  [[nodiscard]] std::size_t size() const noexcept { return count_; }                 ///< Their number.
  [[nodiscard]] std::span<float> span() const noexcept { return {data(), count_}; }  ///< All elements.

 private:
  static constexpr std::size_t page = 4096;
  static std::size_t whole_pages(std::size_t count) noexcept {
    return (count * sizeof(float) + page - 1) / page * page + 2 * page;
  }
  struct give_back {
    void operator()(float* memory) const noexcept { std::free(memory); }
  };
  std::size_t count_;
  std::unique_ptr<float[], give_back> data_;
};

}  // namespace chorale::bench
