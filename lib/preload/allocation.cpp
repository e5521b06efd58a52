// SPDX-License-Identifier: Apache-2.0
// Replaces the C library's allocation of page-aligned blocks, from which programs usually take the memory
// that they register: blocks come from the shared heap, so that a peer's write is a copy instead of a system
// call. All other allocations remain with the C library.
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>

#include "../core/pages.hpp"
#include "shared_heap.hpp"

using chorale::preload::shared_heap;

namespace {

/// Static memory for what dlsym() itself allocates, while the function that would allocate it is looked up.
/// Never reused.
class early_blocks {
 public:
  static constexpr std::size_t block_bytes = 4096;

  /// nullptr, with errno ENOMEM, if size or alignment are larger than a block, or none is left.
  static void* allocate(std::size_t alignment, std::size_t bytes) noexcept {
    if (alignment <= block_bytes && bytes <= block_bytes) {
      const std::size_t index = __atomic_fetch_add(&used_, 1, __ATOMIC_RELAXED);
      if (index < count) return blocks_[index];
    }
    errno = ENOMEM;
    return nullptr;
  }
  static bool owns(const void* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(blocks_) <
           sizeof blocks_;
  }

 private:
  static constexpr std::size_t count = 64;
  alignas(block_bytes) static inline unsigned char blocks_[count][block_bytes];
  static inline std::size_t used_ = 0;
};

/// The next definition of a function, looked up once. dlsym() itself may allocate and free: memory that it
/// frees during a look-up is leaked.
template <class Function>
class next_definition {
 public:
  constexpr explicit next_definition(const char* name) noexcept : name_(name) {}

  /// nullptr while this thread is in a look-up.
  Function* get() noexcept {
    Function* known = __atomic_load_n(&found_, __ATOMIC_ACQUIRE);
    if (known != nullptr) return known;
    if (looking_) return nullptr;
    looking_ = true;
    known = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_));
    looking_ = false;
    __atomic_store_n(&found_, known, __ATOMIC_RELEASE);
    return known;
  }

 private:
  const char* name_;
  Function* found_ = nullptr;
  static inline thread_local bool looking_ = false;
};

constinit next_definition<void(void*)> next_free{"free"};
constinit next_definition<void*(void*, std::size_t)> next_realloc{"realloc"};
constinit next_definition<void*(std::size_t, std::size_t)> next_memalign{"memalign"};
constinit next_definition<int(void**, std::size_t, std::size_t)> next_posix_memalign{"posix_memalign"};
constinit next_definition<void*(std::size_t, std::size_t)> next_aligned_alloc{"aligned_alloc"};
constinit next_definition<void*(std::size_t)> next_valloc{"valloc"};
constinit next_definition<void*(std::size_t)> next_pvalloc{"pvalloc"};
constinit next_definition<std::size_t(void*)> next_usable_size{"malloc_usable_size"};

bool is_power_of_two(std::size_t value) noexcept {
  return value != 0 && (value & (value - 1)) == 0;
}

void* share(std::size_t alignment, std::size_t bytes) noexcept {
  if (alignment < chorale::detail::page_bytes() || !is_power_of_two(alignment)) return nullptr;
  return shared_heap::instance().allocate(bytes, alignment);
}

}  // namespace

extern "C" {

void* memalign(std::size_t alignment, std::size_t bytes) {
  if (void* block = share(alignment, bytes)) return block;
  auto* next = next_memalign.get();
  return next != nullptr ? next(alignment, bytes) : early_blocks::allocate(alignment, bytes);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  if (void* shared = share(alignment, bytes)) {
    *block = shared;
    return 0;
  }
  if (auto* next = next_posix_memalign.get()) return next(block, alignment, bytes);
  void* early = early_blocks::allocate(alignment, bytes);
  if (early == nullptr) return ENOMEM;
  *block = early;
  return 0;
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  if (void* block = share(alignment, bytes)) return block;
  auto* next = next_aligned_alloc.get();
  return next != nullptr ? next(alignment, bytes) : early_blocks::allocate(alignment, bytes);
}

void* valloc(std::size_t bytes) {
  if (void* block = share(chorale::detail::page_bytes(), bytes)) return block;
  auto* next = next_valloc.get();
  return next != nullptr ? next(bytes) : early_blocks::allocate(chorale::detail::page_bytes(), bytes);
}

void* pvalloc(std::size_t bytes) {
  if (void* block = share(chorale::detail::page_bytes(), bytes)) return block;
  auto* next = next_pvalloc.get();
  return next != nullptr ? next(bytes) : early_blocks::allocate(chorale::detail::page_bytes(), bytes);
}

void free(void* block) {
  if (block == nullptr || early_blocks::owns(block)) return;
  if (shared_heap::owns(block)) {
    shared_heap::instance().release(block);
  } else if (auto* next = next_free.get()) {
    next(block);
  }
}

std::size_t malloc_usable_size(void* block) {
  if (early_blocks::owns(block)) return early_blocks::block_bytes;
  if (block != nullptr && shared_heap::owns(block)) return shared_heap::instance().size_of(block);
  auto* next = next_usable_size.get();
  return next != nullptr ? next(block) : 0;
}

void* realloc(void* block, std::size_t bytes) {
  const bool is_own = early_blocks::owns(block) || (block != nullptr && shared_heap::owns(block));
  if (!is_own) {
    if (auto* next = next_realloc.get()) return next(block, bytes);
    if (block == nullptr) return malloc(bytes);
  }
  if (bytes == 0) {
    free(block);
    return nullptr;
  }
  const std::size_t had = malloc_usable_size(block);
  if (bytes <= had) return block;
  if (had == 0 && !is_own) {
    // Its size cannot be looked up either.
    errno = ENOMEM;
    return nullptr;
  }
  void* moved = malloc(bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, had);
  free(block);
  return moved;
}

void* reallocarray(void* block, std::size_t count, std::size_t bytes) {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(block, all);
}

}  // extern "C"
