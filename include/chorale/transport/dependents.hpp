// What stands on a transport beside its calls, such as windows and arrays, and may be kept for longer than
// it.
#pragma once

#include <utility>

#include <chorale/core/lean_functional.hpp>

namespace chorale::transport {

/// Those who use what a transport owns. One that is still there when the transport ends is told to let go of
/// it first, so that the order in which a program destroys the two does not matter. One thread at a time,
/// that of the transport.
class dependents {
 public:
  /// Entered as long as it lives, or until the transport has ended.
  class entry {
   public:
    /// `let_go` is called at most once, before anything of the transport goes; it must not throw.
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

    dependents* owner_;  ///< null when it has ended
    std::function<void()> let_go_;
    entry* before_;
    entry* behind_ = nullptr;
  };

  dependents() = default;
  dependents(const dependents&) = delete;
  dependents& operator=(const dependents&) = delete;
  ~dependents() { end(); }

  /// One has taken memory back that peers may still try to reach: errors of connections say so from then on.
  void note_withdrawal() noexcept { withdrawn_ = true; }
  [[nodiscard]] bool has_withdrawn() const noexcept { return withdrawn_; }

  /// Those who came last let go first, as destructors do.
  void end() noexcept {
    while (last_ != nullptr) {
      entry& last = *last_;
      last.leave();
      // Moved out, since what it belongs to may end by it.
      const auto let_go = std::move(last.let_go_);
      let_go();
    }
  }

 private:
  entry* last_ = nullptr;
  bool withdrawn_ = false;
};

}  // namespace chorale::transport
