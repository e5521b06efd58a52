// SPDX-License-Identifier: Apache-2.0
// A buffer with random strides, which computes the place of each element without the library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <chorale/core/strided.hpp>

#include "guarded_buffer.hpp"

namespace collectives {

/// Random numbers whose product is `count`: the steps of up to five loops, and the elements of a block.
inline std::vector<std::size_t> random_factors(std::size_t count, std::mt19937& random) {
  std::vector<std::size_t> factors;
  for (std::size_t prime = 2; count > 1 && factors.size() < 5; ++prime)
    for (; count % prime == 0 && factors.size() < 5; count /= prime) factors.push_back(prime);
  factors.push_back(count);
  std::shuffle(factors.begin(), factors.end(), random);
  return factors;
}

/// `count` elements at random places of a buffer: up to five nested loops, any of which may have the smallest
/// stride, and any of which may run backwards.
template <class T>
class spread_buffer {
 public:
  spread_buffer(std::size_t count, std::mt19937& random) : memory_(0), filler_() {
    auto factors = random_factors(count, random);
    block_ = factors.back();
    factors.pop_back();
    std::vector<std::size_t> by_stride(factors.size());
    std::iota(by_stride.begin(), by_stride.end(), std::size_t{0});
    if (random() % 2 == 0) std::reverse(by_stride.begin(), by_stride.end());
    if (random() % 4 == 0) std::shuffle(by_stride.begin(), by_stride.end(), random);
    loops_.resize(factors.size());
    std::size_t inside = block_;
    std::ptrdiff_t first = static_cast<std::ptrdiff_t>(random() % 3);
    for (const std::size_t i : by_stride) {
      const auto stride = static_cast<std::ptrdiff_t>(inside + random() % 3);
      const auto steps = static_cast<std::ptrdiff_t>(factors[i]);
      const bool goes_back = random() % 3 == 0;
      if (goes_back) first += stride * std::max<std::ptrdiff_t>(steps - 1, 0);
      loops_[i] = {steps, goes_back ? -stride : stride};
      inside += static_cast<std::size_t>(stride * std::max<std::ptrdiff_t>(steps - 1, 0));
    }
    first_ = static_cast<std::size_t>(first);
    memory_ = guarded_buffer<T>(inside + 5, 0);
    filler_ = memory_.get(0);
    list(0, first);
  }

  [[nodiscard]] chorale::strided<T> view() {
    return {memory_.span().data() + first_, std::span<const chorale::steps>{loops_}, block_};
  }
  [[nodiscard]] chorale::strided<const T> constant() {
    return {static_cast<const T*>(memory_.span().data() + first_), std::span<const chorale::steps>{loops_},
            block_};
  }
  /// The number of elements.
  [[nodiscard]] std::size_t count() const noexcept { return places_.size(); }

  template <class Value>
  void fill_with(Value&& value) {
    for (std::size_t i = 0; i < places_.size(); ++i) memory_.set(places_[i], value(i));
  }
  /// @throws wrong if an element is not `value(i)`, or a byte of another was written.
  template <class Value>
  void check(const std::string& what, Value&& value) const {
    std::vector<T> expected(memory_.count(), filler_);
    for (std::size_t i = 0; i < places_.size(); ++i) expected[places_[i]] = value(i);
    memory_.check(what, expected);
  }

 private:
  /// Adds the places of the loops from `depth` on.
  void list(std::size_t depth, std::ptrdiff_t at) {
    if (depth == loops_.size()) {
      for (std::size_t i = 0; i < block_; ++i) places_.push_back(static_cast<std::size_t>(at) + i);
      return;
    }
    for (std::size_t i = 0; i < loops_[depth].count; ++i)
      list(depth + 1, at + static_cast<std::ptrdiff_t>(i) * loops_[depth].stride);
  }

  std::vector<chorale::steps> loops_;
  std::size_t block_ = 0;
  std::size_t first_ = 0;
  guarded_buffer<T> memory_;
  T filler_;
  std::vector<std::size_t> places_;
};

}  // namespace collectives
