// SPDX-License-Identifier: Apache-2.0
// Large pages for memory that is accessed at random: with small pages nearly each access would also miss the
// TLB.
#pragma once

#include <cstddef>
#include <new>
#include <sys/mman.h>

namespace chorale::simulation {

/// An allocator that asks the system for large pages if the memory fills at least one.
template <class T>
struct in_large_pages {
  using value_type = T;

  in_large_pages() = default;
  template <class U>
  explicit(false) in_large_pages(const in_large_pages<U>&) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < page) return static_cast<T*>(::operator new(bytes, boundary(bytes)));
    void* const begin = ::operator new(bytes, boundary(bytes));
    // Only a hint: small pages work as well.
    madvise(begin, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(begin);
  }
  void deallocate(T* begin, std::size_t count) noexcept {
    ::operator delete(begin, boundary(count * sizeof(T)));
  }
  template <class U>
  [[nodiscard]] bool operator==(const in_large_pages<U>&) const noexcept {
    return true;
  }

 private:
  static constexpr std::size_t page = std::size_t{2} << 20;
  static constexpr std::align_val_t boundary(std::size_t bytes) noexcept {
    return std::align_val_t{bytes < page ? __STDCPP_DEFAULT_NEW_ALIGNMENT__ : page};
  }
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
};

}  // namespace chorale::simulation
