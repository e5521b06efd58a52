// SPDX-License-Identifier: Apache-2.0
// Static objects that are never destroyed.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace chorale::detail {

/// A T for static or thread_local storage that is never destroyed and needs no heap memory. The program's
/// older static objects are destroyed later than such an object would be, and their destructors may use the
/// library.
template <class T>
class immortal {
 public:
  template <class... Arguments>
  explicit immortal(Arguments&&... arguments) {
    ::new (static_cast<void*>(storage_)) T(std::forward<Arguments>(arguments)...);
  }
  immortal(const immortal&) = delete;
  immortal& operator=(const immortal&) = delete;

  [[nodiscard]] T& operator*() noexcept { return *std::launder(reinterpret_cast<T*>(storage_)); }
  [[nodiscard]] T* operator->() noexcept { return &**this; }

 private:
  alignas(T) std::byte storage_[sizeof(T)];
};

}  // namespace chorale::detail
