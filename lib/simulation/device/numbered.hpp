// SPDX-License-Identifier: Apache-2.0
// Objects looked up by number.
#pragma once

#include <cstdint>
#include <vector>

namespace chorale::simulation::device {

/// Gives each object a number that is never reused: what is in flight to a destroyed object finds none, like
/// packets to a destroyed queue pair.
template <class T>
class numbered {
 public:
  /// Numbers from `first` to below `end`.
  numbered(std::uint32_t first, std::uint32_t end) noexcept : first_(first), end_(end) {}

  /// A new number; 0 if all have been used.
  std::uint32_t add(T& object) {
    if (all_.size() >= end_ - first_) return 0;
    all_.push_back(&object);
    return first_ + static_cast<std::uint32_t>(all_.size()) - 1;
  }
  void remove(std::uint32_t number) noexcept { all_[number - first_] = nullptr; }
  /// nullptr if no such object exists.
  [[nodiscard]] T* find(std::uint32_t number) const noexcept {
    return number >= first_ && number - first_ < all_.size() ? all_[number - first_] : nullptr;
  }
  /// Calls `f` for each object, in the order of their numbers. `f` may remove any.
  template <class F>
  void for_each(F f) const {
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (all_[i] != nullptr) f(*all_[i]);
  }

 private:
  std::uint32_t first_;
  std::uint32_t end_;
  std::vector<T*> all_;
};

}  // namespace chorale::simulation::device
