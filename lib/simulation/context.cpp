// SPDX-License-Identifier: Apache-2.0
#include "context.hpp"

#include <cstring>
#include <cxxabi.h>
#include <new>
#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>

#include "../core/pages.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define CHORALE_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHORALE_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define CHORALE_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CHORALE_THREAD_SANITIZER 1
#endif
#endif

#if CHORALE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if CHORALE_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace chorale::simulation {
namespace {

/// The size of __cxa_eh_globals in the Itanium C++ ABI: a pointer and an unsigned int.
constexpr std::size_t exceptions_bytes = sizeof(void*) + sizeof(unsigned);

}  // namespace

stack_pool::stack_pool(std::size_t bytes) noexcept : bytes_(detail::in_pages(bytes)) {}

stack_pool::~stack_pool() {
  for (const stack& s : free_) munmap(s.memory - detail::page_bytes(), s.bytes + detail::page_bytes());
}

stack stack_pool::take() {
  if (!free_.empty()) {
    const stack s = free_.back();
    free_.pop_back();
    return s;
  }
  void* const all = mmap(nullptr, bytes_ + detail::page_bytes(), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (all == MAP_FAILED) throw std::bad_alloc{};
  mprotect(all, detail::page_bytes(), PROT_NONE);
  return {static_cast<std::byte*>(all) + detail::page_bytes(), bytes_};
}

void stack_pool::give_back(stack s) {
#if CHORALE_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(s.memory, s.bytes);
#endif
  free_.push_back(s);
}

/// What a new context finds on its stack when control first switches to it.
struct context::start {
  static void run(boost::context::detail::transfer_t from) noexcept {
    auto** const both = static_cast<context**>(from.data);
    both[0]->place_ = from.fctx;
    context& self = *both[1];
    self.arrived(*both[0]);
    self.entry_(self.argument_);
  }
};

context::context(stack s, void (*entry)(void*) noexcept, void* argument) noexcept
    : place_(boost::context::detail::make_fcontext(
          s.memory + s.bytes, s.bytes, [](boost::context::detail::transfer_t from) { start::run(from); })),
      memory_(s),
      entry_(entry),
      argument_(argument) {
#if CHORALE_THREAD_SANITIZER
  sanitizer_ = __tsan_create_fiber(0);
#endif
}

context::~context() {
#if CHORALE_THREAD_SANITIZER
  if (memory_.memory != nullptr) __tsan_destroy_fiber(sanitizer_);
#endif
}

void context::switch_to(context& to) noexcept {
  jump(to, false);
}

void context::leave_for(context& to) noexcept {
  jump(to, true);
}

void context::jump(context& to, [[maybe_unused]] bool for_good) noexcept {
  std::memcpy(exceptions_, abi::__cxa_get_globals(), exceptions_bytes);
#if CHORALE_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(for_good ? nullptr : &sanitizer_, to.memory_.memory, to.memory_.bytes);
#endif
#if CHORALE_THREAD_SANITIZER
  if (sanitizer_ == nullptr) sanitizer_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.sanitizer_, 0);
#endif
  context* both[]{this, &to};
  const auto back = boost::context::detail::jump_fcontext(to.place_, both);
  context& from = *static_cast<context**>(back.data)[0];
  from.place_ = back.fctx;
  arrived(from);
}

/// `from` has switched to this context, which runs now.
void context::arrived([[maybe_unused]] context& from) noexcept {
#if CHORALE_ADDRESS_SANITIZER
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(sanitizer_, &bottom, &bytes);
  // The bounds of the thread's own stack become known when the thread first leaves it.
  if (from.memory_.memory == nullptr && from.entry_ == nullptr)
    from.memory_ = {const_cast<std::byte*>(static_cast<const std::byte*>(bottom)), bytes};
#endif
  std::memcpy(abi::__cxa_get_globals(), exceptions_, exceptions_bytes);
}

}  // namespace chorale::simulation
