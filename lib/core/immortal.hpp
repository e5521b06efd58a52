// Static objects that are never destroyed.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace chorale::detail {

/// A T for static or thread_local storage that nobody destroys and that needs no memory besides. A static
/// object of the program that is older than it is destroyed later, and its destructor may use the library.
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
