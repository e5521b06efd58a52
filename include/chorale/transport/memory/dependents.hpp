// SPDX-License-Identifier: Apache-2.0
// Objects that depend on a transport besides its calls, such as windows and arrays, and may outlive it.
#pragma once

#include <functional>
#include <utility>

#include <chorale/core/origin.hpp>

namespace chorale::transport {

/// The objects that use resources of a transport. A transport that is destroyed first tells each remaining
/// one to release them, so that a program may destroy the two in any order. One thread at a time, that of the
/// transport.
class dependents {
 public:
  /// Registered during its lifetime, or until the transport has been destroyed.
  class entry {
   public:
    /// `let_go` is called at most once, before any part of the transport is destroyed; it must not throw.
    entry(dependents& owner, std::function<void()> let_go)
        : owner_(&owner), let_go_(std::move(let_go)), before_(owner.last_) {
      if (before_ != nullptr) before_->behind_ = this;
      owner.last_ = this;
    }
    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;
    ~entry() {
      if (owner_ != nullptr) leave();
    }

   private:
    friend class dependents;
    void leave() noexcept {
      (behind_ != nullptr ? behind_->before_ : owner_->last_) = before_;
      if (before_ != nullptr) before_->behind_ = behind_;
      owner_ = nullptr;
    }

    dependents* owner_;  ///< null once it has been destroyed
    std::function<void()> let_go_;
    entry* before_;
    entry* behind_ = nullptr;
  };

  dependents() = default;
  dependents(const dependents&) = delete;
  dependents& operator=(const dependents&) = delete;
  ~dependents() { end(); }

  /// An object has withdrawn memory that peers may still try to access: connection errors mention that from
  /// now on.
  void note_withdrawal() noexcept { withdrawn_ = true; }
  [[nodiscard]] bool has_withdrawn() const noexcept { return withdrawn_; }

  /// Releases all, in reverse order of registration, as destructors run. Does nothing in a child of fork().
  void end() noexcept {
    if (!made_.is_here()) return;
    while (last_ != nullptr) {
      entry& last = *last_;
      last.leave();
      // Moved out, since the call may destroy the object that owns it.
      const auto let_go = std::move(last.let_go_);
      let_go();
    }
  }

 private:
  entry* last_ = nullptr;
  bool withdrawn_ = false;
  detail::origin made_;
};

}  // namespace chorale::transport
