// SPDX-License-Identifier: Apache-2.0
// Makes system calls and allocations of one thread fail, by number. In programs that link shortage.cpp, its
// definitions replace those of the C library, also for the libraries that they load.
#pragma once

#include <cstddef>

namespace shortage {

enum class call {
  memfd_create,
  mmap,
  socket,
  socketpair,
  bind,
  open,
  openat,
  fdopen,
  flock,
  stat,
  fstat,
  epoll_create,
  epoll_ctl,
  pipe,
  pthread_create,
  calloc,    ///< not under a sanitizer, which replaces it itself
  allocate,  ///< operator new, in all its forms
};
inline constexpr call all_calls[]{call::memfd_create, call::mmap, call::socket,         call::socketpair,
                                  call::bind,         call::open, call::openat,         call::fdopen,
                                  call::flock,        call::stat, call::fstat,          call::epoll_create,
                                  call::epoll_ctl,    call::pipe, call::pthread_create, call::calloc,
                                  call::allocate};

const char* name(call what) noexcept;
/// The errno that the call fails with.
int errno_of(call what) noexcept;

/// All calls from the nth on.
inline constexpr long without_end = -1;

/// During its lifetime the `nth` (from 1) such call of the calling thread fails, with the following ones,
/// `in_a_row` in total.
class failing {
 public:
  failing(call what, long nth, long in_a_row = 1) noexcept;
  ~failing();
  failing(const failing&) = delete;
  failing& operator=(const failing&) = delete;
  /// True if a call has failed.
  [[nodiscard]] static bool has_failed() noexcept;
};

/// Number of existing objects of operator new, of all threads.
long allocated() noexcept;
/// The last argument that any thread gave to prctl(PR_SET_PTRACER); 0 at first.
unsigned long tracer() noexcept;

}  // namespace shortage
