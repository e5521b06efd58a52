// What stands on a transport beside its calls, such as windows and arrays, and may be kept for longer than
// it.
#pragma once

#include <functional>
#include <list>
#include <utility>

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
        : owner_(&owner),
          let_go_(std::move(let_go)),
          place_(owner.entries_.insert(owner.entries_.end(), this)) {}
    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;
    ~entry() {
      if (owner_ != nullptr) owner_->entries_.erase(place_);
    }

   private:
    friend class dependents;
    dependents* owner_;
    std::function<void()> let_go_;
    std::list<entry*>::iterator place_;
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
    while (!entries_.empty()) {
      entry* last = entries_.back();
      entries_.pop_back();
      last->owner_ = nullptr;
      // Moved out, since what it belongs to may end by it.
      const auto let_go = std::move(last->let_go_);
      let_go();
    }
  }

 private:
  std::list<entry*> entries_;
  bool withdrawn_ = false;
};

}  // namespace chorale::transport
