// SPDX-License-Identifier: Apache-2.0
// The coroutines of a program that a thread resumes in `progress`.
#pragma once

#include <coroutine>
#include <utility>

namespace chorale::detail {

/// Links objects into a ring, which each leaves when it is destroyed.
class ring_link {
 public:
  ring_link() = default;
  ring_link(const ring_link&) = delete;
  ring_link& operator=(const ring_link&) = delete;

 protected:
  ~ring_link() { unlink(); }
  [[nodiscard]] bool is_alone() const noexcept { return next_ == this; }
  [[nodiscard]] ring_link* next() const noexcept { return next_; }
  void unlink() noexcept {
    next_->previous_ = previous_;
    previous_->next_ = next_;
    next_ = previous_ = this;
  }
  /// Moves this one to the place before `other`.
  void link_before(ring_link& other) noexcept {
    unlink();
    next_ = &other;
    previous_ = std::exchange(other.previous_, this);
    previous_->next_ = this;
  }

 private:
  ring_link* next_ = this;
  ring_link* previous_ = this;
};

/// A coroutine that is suspended until something of the library is complete. It is resumed on the thread that
/// suspended it. Destroying this object, which destroying the coroutine does too, cancels the resumption.
class resumption : private ring_link {
 protected:
  ~resumption() = default;
  /// `progress` of this thread will resume `frame` when `is_due()`.
  void suspend(std::coroutine_handle<> frame) noexcept;

 private:
  friend class resumptions;
  [[nodiscard]] virtual bool is_due() const noexcept = 0;

  std::coroutine_handle<> frame_;
};

/// The suspended coroutines of a thread, in the order in which they were suspended.
class resumptions {
 public:
  [[nodiscard]] bool empty() const noexcept { return awaiting_.is_alone() && due_.is_alone(); }
  void add(resumption& one) noexcept { one.link_before(awaiting_); }
  /// Resumes those that are due now, each of which may suspend others. @throws the exception that leaves a
  /// coroutine; the next call resumes the remaining ones. @returns true if it has resumed any.
  bool resume_due();

 private:
  struct ends : ring_link {
    using ring_link::is_alone;
    using ring_link::next;
  };
  ends awaiting_;
  ends due_;
};

}  // namespace chorale::detail
