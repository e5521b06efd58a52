// SPDX-License-Identifier: Apache-2.0
// Which process created an object, since a child of fork() must leave its parent's objects alone.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace chorale::detail {

/// Remembers the process that constructed it. A child of fork() has copies of its parent's objects but not
/// its threads: a lock that one of them held stays locked, and devices, files and shared memory are still the
/// parent's. Destructors of objects that have any of these therefore do nothing in a child. Cost: a call, so
/// only for destructors and other rare events.
class origin {
 public:
  origin() noexcept : forks_(forks()) {}
  /// False in a child of fork() of the process that created this object.
  [[nodiscard]] bool is_here() const noexcept { return forks_ == forks(); }
  /// For an object of the parent that ends in a child without its destructor: keeps leak checkers from
  /// reporting the memory it points to.
  static void abandon(const void* object, std::size_t bytes) noexcept;

 private:
  /// Number of forks between the process that loaded the library and this one.
  static unsigned forks() noexcept;

  unsigned forks_;
};

/// Deletes only objects created by this process.
struct process_bound_delete {
  origin made{};

  template <class Object>
  void operator()(Object* object) const noexcept {
    if (made.is_here())
      delete object;
    else
      origin::abandon(&object, sizeof object);
  }
};

/// A std::unique_ptr that does not delete its object in a child of fork().
template <class Object>
using process_bound_ptr = std::unique_ptr<Object, process_bound_delete>;

/// Holds an Object or nothing, as std::optional. In a child of fork() the Object's destructor is not called.
template <class Object>
class process_bound {
 public:
  process_bound() noexcept {}
  template <class... Arguments>
  explicit process_bound(std::in_place_t, Arguments&&... arguments) {
    emplace(std::forward<Arguments>(arguments)...);
  }
  process_bound(const process_bound&) = delete;
  process_bound& operator=(const process_bound&) = delete;
  ~process_bound() {
    if (!has_value_) return;
    if (is_here())
      value_.~Object();
    else
      origin::abandon(std::addressof(value_), sizeof value_);
  }

  /// Precondition: it holds nothing.
  template <class... Arguments>
  void emplace(Arguments&&... arguments) {
    ::new (static_cast<void*>(std::addressof(value_))) Object(std::forward<Arguments>(arguments)...);
    has_value_ = true;
  }
  /// As `origin::is_here`.
  [[nodiscard]] bool is_here() const noexcept { return made_.is_here(); }

  // Precondition of these: it holds an Object.
  [[nodiscard]] Object& operator*() noexcept { return value_; }
  [[nodiscard]] const Object& operator*() const noexcept { return value_; }
  [[nodiscard]] Object* operator->() noexcept { return std::addressof(value_); }
  [[nodiscard]] const Object* operator->() const noexcept { return std::addressof(value_); }

 private:
  union {
    Object value_;
  };
  bool has_value_ = false;
  origin made_;
};

}  // namespace chorale::detail
