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

/// Stacks of one size, kept for the next who needs one.
class stack_pool {
 public:
  /// `bytes` is rounded up to whole pages.
  explicit stack_pool(std::size_t bytes) noexcept;
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;
  /// Unmaps those that have been given back.
  ~stack_pool();

  /// @throws std::bad_alloc if the system gives no memory.
  [[nodiscard]] stack take();
  void give_back(stack s);

 private:
  std::size_t bytes_;
  std::vector<stack> free_;
};

/// A flow of execution on a stack: the thread's own, or one that was made for it. At each instant one of
/// those of a thread runs. It keeps what the run-time libraries know of a stack: exceptions under way, and
/// what sanitizers ask for.
class context {
 public:
  /// That of the thread itself, which runs.
  context() noexcept = default;
  /// One that calls `entry(argument)` once it is switched to. `entry` does not return.
  context(stack s, void (*entry)(void*) noexcept, void* argument) noexcept;
  context(const context&) = delete;
  context& operator=(const context&) = delete;
  ~context();

  /// Leaves this context, which runs, for `to`; returns when another switches back.
  void switch_to(context& to) noexcept;
  /// The same for good: its stack may be given back once another runs.
  void leave_for(context& to) noexcept;
  [[nodiscard]] stack memory() const noexcept { return memory_; }

 private:
  struct start;
  void jump(context& to, bool for_good) noexcept;
  void arrived(context& from) noexcept;

  void* place_ = nullptr;  ///< where it goes on
  stack memory_;
  void (*entry_)(void*) noexcept = nullptr;
  void* argument_ = nullptr;
  /// What the C++ run time keeps of a thread: the exceptions that are caught, and how many are under way.
  void* exceptions_[2]{};
  void* sanitizer_ = nullptr;
};

}  // namespace chorale::simulation
