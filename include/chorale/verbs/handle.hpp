// SPDX-License-Identifier: Apache-2.0
// Ownership of one verbs object: the basis of every class in this folder.
#pragma once

#include <cerrno>
#include <utility>

#include <chorale/core/origin.hpp>
#include <chorale/verbs/driver.hpp>

namespace chorale::verbs {

/// The errno of a verbs call that returned `result`: verbs return either the errno or -1 and set errno.
inline int errno_of(int result) noexcept {
  return result < 0 ? errno : result;
}

/// Owns an `Object*` and destroys it with `Destroy`, an entry of the `driver` table. A child of fork() must
/// not destroy objects of its parent, and only drops its pointers to them, unless the device permits their
/// destruction (`driver::knows_children`). Move-only; a moved-from or closed handle holds nullptr. Thread
/// safety: none.
template <class Object, int (*driver::*Destroy)(Object*)>
class handle {
 public:
  handle() noexcept = default;
  handle(const driver& provider, Object* native) noexcept : provider_(&provider), native_(native) {}
  handle(handle&& other) noexcept
      : provider_(other.provider_), native_(std::exchange(other.native_, nullptr)), made_(other.made_) {}
  handle& operator=(handle&& other) noexcept {
    if (this != &other) {
      static_cast<void>(close());
      provider_ = other.provider_;
      native_ = std::exchange(other.native_, nullptr);
      made_ = other.made_;
    }
    return *this;
  }
  ~handle() { static_cast<void>(close()); }

  [[nodiscard]] Object* get() const noexcept { return native_; }
  /// Precondition: was made from an object (not default-constructed).
  [[nodiscard]] const driver& provider() const noexcept { return *provider_; }

  /// Destroys the object, if any. @returns 0, or the errno of a refused destruction (EBUSY: objects made from
  /// it still exist), after which the object is still owned and intact.
  [[nodiscard]] int close() noexcept {
    if (native_ == nullptr) return 0;
    const bool may = provider_->knows_children || made_.is_here();
    const int failure = may ? verbs::errno_of((provider_->*Destroy)(native_)) : 0;
    if (failure == 0) native_ = nullptr;
    return failure;
  }

 private:
  const driver* provider_ = nullptr;
  Object* native_ = nullptr;
  detail::origin made_;
};

}  // namespace chorale::verbs
