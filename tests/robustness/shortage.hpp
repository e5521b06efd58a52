// Has system calls and allocations of one thread fail, by number. Programs that link shortage.cpp have its
// definitions in place of the C library's, and so has every library that they load.
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
  allocate,  ///< operator new, in all its forms
};
inline constexpr call all_calls[]{call::memfd_create, call::mmap, call::socket,         call::socketpair,
                                  call::bind,         call::open, call::openat,         call::fdopen,
                                  call::flock,        call::stat, call::fstat,          call::epoll_create,
                                  call::epoll_ctl,    call::pipe, call::pthread_create, call::allocate};

const char* name(call what) noexcept;
/// The errno that the call fails with.
int errno_of(call what) noexcept;

/// All calls from the nth on.
inline constexpr long without_end = -1;

/// From its construction to its end the `nth` (from 1) such call of the calling thread fails, and so do those
/// after it, `in_a_row` altogether.
class failing {
 public:
  failing(call what, long nth, long in_a_row = 1) noexcept;
  ~failing();
  failing(const failing&) = delete;
  failing& operator=(const failing&) = delete;
  /// True if there were as many such calls.
  [[nodiscard]] static bool has_failed() noexcept;
};

/// Objects of operator new that have not been deleted, of all threads.
long allocated() noexcept;
/// The last argument that any thread gave to prctl(PR_SET_PTRACER); 0 at first.
unsigned long tracer() noexcept;

}  // namespace shortage
