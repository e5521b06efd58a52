// SPDX-License-Identifier: Apache-2.0
#include "shortage.hpp"

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <new>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../support/instrumented.hpp"

namespace shortage {
namespace {

struct plan {
  bool armed;
  call what;
  long left;      ///< calls before the first that fails; 0 or less afterwards
  long in_a_row;  ///< how many fail
};
constinit thread_local plan here{};
constinit std::atomic<long> objects{0};
constinit std::atomic<unsigned long> last_tracer{0};

/// True if this call must fail; sets errno.
bool fails(call what) noexcept {
  if (!here.armed || here.what != what || --here.left > 0) return false;
  if (here.in_a_row != without_end && -here.left >= here.in_a_row) return false;
  errno = errno_of(what);
  return true;
}

/// The definition that this one replaces.
template <class F>
F* behind(const char* symbol) noexcept {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, symbol));
}

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (fails(call::allocate)) return nullptr;
  void* memory = alignment <= alignof(std::max_align_t)
                     ? std::malloc(bytes == 0 ? 1 : bytes)
                     : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory != nullptr) objects.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void release(void* memory) noexcept {
  if (memory != nullptr) objects.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* memory = allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

/// The argument after `flags`, which exists only if a file may be created.
mode_t mode_of(int flags, va_list& rest) noexcept {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
}

}  // namespace

const char* name(call what) noexcept {
  constexpr const char* names[]{"memfd_create", "mmap",          "socket",    "socketpair", "bind",
                                "open",         "openat",        "fdopen",    "flock",      "stat",
                                "fstat",        "epoll_create1", "epoll_ctl", "pipe2",      "pthread_create",
                                "calloc",       "operator new"};
  return names[static_cast<int>(what)];
}

int errno_of(call what) noexcept {
  switch (what) {
    case call::mmap:
    case call::stat:
    case call::fstat:
    case call::calloc:
    case call::allocate:
    case call::bind:
      return ENOMEM;
    case call::socket:
      return ENFILE;
    case call::flock:
      return ENOLCK;
    case call::epoll_ctl:
      return ENOSPC;
    case call::pthread_create:
      return EAGAIN;
    default:
      return EMFILE;
  }
}

failing::failing(call what, long nth, long in_a_row) noexcept {
  here = {true, what, nth, in_a_row};
}
failing::~failing() {
  here.armed = false;
}
bool failing::has_failed() noexcept {
  return here.left <= 0;
}

long allocated() noexcept {
  return objects.load(std::memory_order_relaxed);
}
unsigned long tracer() noexcept {
  return last_tracer.load();
}

}  // namespace shortage

using shortage::behind;
using shortage::call;
using shortage::fails;
using shortage::mode_of;

// NOLINTBEGIN: these are the C library's own signatures.
int memfd_create(const char* label, unsigned flags) noexcept {
  static auto* const next = behind<int(const char*, unsigned)>("memfd_create");
  return fails(call::memfd_create) ? -1 : next(label, flags);
}

void* mmap(void* at, std::size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  static auto* const next = behind<void*(void*, std::size_t, int, int, int, off_t)>("mmap");
  return fails(call::mmap) ? MAP_FAILED : next(at, bytes, protection, flags, fd, offset);
}

int socket(int domain, int type, int protocol) noexcept {
  static auto* const next = behind<int(int, int, int)>("socket");
  return fails(call::socket) ? -1 : next(domain, type, protocol);
}

int socketpair(int domain, int type, int protocol, int ends[2]) noexcept {
  static auto* const next = behind<int(int, int, int, int*)>("socketpair");
  return fails(call::socketpair) ? -1 : next(domain, type, protocol, ends);
}

int bind(int fd, const sockaddr* address, socklen_t bytes) noexcept {
  static auto* const next = behind<int(int, const sockaddr*, socklen_t)>("bind");
  return fails(call::bind) ? -1 : next(fd, address, bytes);
}

int open(const char* path, int flags, ...) {
  static auto* const next = behind<int(const char*, int, ...)>("open");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return fails(call::open) ? -1 : next(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  static auto* const next = behind<int(int, const char*, int, ...)>("openat");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return fails(call::openat) ? -1 : next(folder, path, flags, mode);
}

// The fortified version of open, for flags unknown at compile time.
int checked_open(const char* path, int flags) asm("__open64_2");
int checked_open(const char* path, int flags) {
  return open(path, flags);
}
int checked_openat(int folder, const char* path, int flags) asm("__openat64_2");
int checked_openat(int folder, const char* path, int flags) {
  return openat(folder, path, flags);
}

FILE* fdopen(int file, const char* mode) noexcept {
  static auto* const next = behind<FILE*(int, const char*)>("fdopen");
  return fails(call::fdopen) ? nullptr : next(file, mode);
}

int flock(int file, int operation) noexcept {
  static auto* const next = behind<int(int, int)>("flock");
  return fails(call::flock) ? -1 : next(file, operation);
}

int stat(const char* path, struct stat* s) noexcept {
  static auto* const next = behind<int(const char*, struct stat*)>("stat");
  return fails(call::stat) ? -1 : next(path, s);
}

int fstat(int fd, struct stat* s) noexcept {
  static auto* const next = behind<int(int, struct stat*)>("fstat");
  return fails(call::fstat) ? -1 : next(fd, s);
}

int epoll_create1(int flags) noexcept {
  static auto* const next = behind<int(int)>("epoll_create1");
  return fails(call::epoll_create) ? -1 : next(flags);
}

int epoll_ctl(int fd, int what, int about, epoll_event* event) noexcept {
  static auto* const next = behind<int(int, int, int, epoll_event*)>("epoll_ctl");
  return fails(call::epoll_ctl) ? -1 : next(fd, what, about, event);
}

int pipe2(int ends[2], int flags) noexcept {
  static auto* const next = behind<int(int*, int)>("pipe2");
  return fails(call::pipe) ? -1 : next(ends, flags);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* what) noexcept {
  static auto* const next =
      behind<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return fails(call::pthread_create) ? errno : next(thread, attributes, run, what);
}

int prctl(int option, ...) noexcept {
  static auto* const next = behind<int(int, ...)>("prctl");
  unsigned long given[4];
  va_list rest;
  va_start(rest, option);
  for (auto& one : given) one = va_arg(rest, unsigned long);
  va_end(rest);
  if (option == PR_SET_PTRACER) {
    // As on a kernel with Yama.
    shortage::last_tracer.store(given[0]);
    return 0;
  }
  return next(option, given[0], given[1], given[2], given[3]);
}

// dlsym() itself may call it, so the C library's own is called by its other name.
#if !CHORALE_TEST_INSTRUMENTED
extern "C" void* __libc_calloc(std::size_t count, std::size_t bytes);
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  return fails(call::calloc) ? nullptr : __libc_calloc(count, bytes);
}
#endif

// The C library has nowhere to report that it has no memory for a destructor of a thread-local variable.
extern "C" int __cxa_thread_atexit_impl(void (*destroy)(void*), void* object, void* library);
extern "C" int __cxa_thread_atexit(void (*destroy)(void*), void* object, void* library) {
  if (fails(call::allocate)) std::abort();
  return __cxa_thread_atexit_impl(destroy, object, library);
}

void* operator new(std::size_t bytes) {
  return shortage::allocate_or_throw(bytes, 0);
}
void* operator new[](std::size_t bytes) {
  return shortage::allocate_or_throw(bytes, 0);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return shortage::allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return shortage::allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return shortage::allocate(bytes, 0);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return shortage::allocate(bytes, 0);
}
void operator delete(void* memory) noexcept {
  shortage::release(memory);
}
void operator delete[](void* memory) noexcept {
  shortage::release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  shortage::release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  shortage::release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  shortage::release(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  shortage::release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  shortage::release(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  shortage::release(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  shortage::release(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  shortage::release(memory);
}
// NOLINTEND
