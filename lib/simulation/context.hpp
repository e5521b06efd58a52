// SPDX-License-Identifier: Apache-2.0
// Stacks, and switching from one to another.
#pragma once

#include <cstddef>
#include <vector>

namespace chorale::simulation {

/// Memory of a stack, with a page below it that ends the program if it overflows.
struct stack {
  std::byte* memory = nullptr;  ///< the lowest byte that may be used
  std::size_t bytes = 0;
};

/// Stacks of one size, kept for reuse.
class stack_pool {
 public:
  /// `bytes` is rounded up to whole pages.
  explicit stack_pool(std::size_t bytes) noexcept;
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;
  /// Unmaps the stacks that have been given back.
  ~stack_pool();

  /// @throws std::bad_alloc if the system has no memory.
  [[nodiscard]] stack take();
  void give_back(stack s);

 private:
  std::size_t bytes_;
  std::vector<stack> free_;
};

/// A flow of execution on a stack: the thread's own, or one created for a fiber. One context of a thread runs
/// at a time. A context keeps the state that run-time libraries hold for each stack: exceptions under way,
/// and what sanitizers need.
class context {
 public:
  /// The context of the thread itself, which is running.
  context() noexcept = default;
  /// A context that calls `entry(argument)` once control switches to it. `entry` does not return.
  context(stack s, void (*entry)(void*) noexcept, void* argument) noexcept;
  context(const context&) = delete;
  context& operator=(const context&) = delete;
  ~context();

  /// Switches from this running context to `to`; returns when another context switches back.
  void switch_to(context& to) noexcept;
  /// Like `switch_to`, but never returns: this context's stack may be given back once another context runs.
  void leave_for(context& to) noexcept;
  [[nodiscard]] stack memory() const noexcept { return memory_; }

 private:
  struct start;
  void jump(context& to, bool for_good) noexcept;
  void arrived(context& from) noexcept;

  void* place_ = nullptr;  ///< the saved stack position
  stack memory_;
  void (*entry_)(void*) noexcept = nullptr;
  void* argument_ = nullptr;
  /// The C++ run time's state of a thread: the exceptions that are caught, and the number under way.
  void* exceptions_[2]{};
  void* sanitizer_ = nullptr;
};

}  // namespace chorale::simulation
