// SPDX-License-Identifier: Apache-2.0
// A kernel for POWER, imitated for a program that preloads this. Pages of 64 KiB, as also on ARM: the calls
// reject addresses that do not begin such a page, and treat each touched page as a whole. A large page counts
// as mapped if any of its small ones is, since the C library's own mappings do not come through here.
// process_vm_writev copies words in halves, the first one last.
#undef _FILE_OFFSET_BITS  // which gives mmap the name of mmap64
#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

constexpr std::uintptr_t large = std::uintptr_t{64} << 10;
constexpr std::uintptr_t small = std::uintptr_t{4} << 10;

constexpr std::uintptr_t up(std::uintptr_t bytes) noexcept {
  return (bytes + large - 1) & ~(large - 1);
}
bool begins_page(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) % large == 0;
}
int refuse() noexcept {
  errno = EINVAL;
  return -1;
}

template <class Function>
Function* next(const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Calls `attempt(begin, bytes)`, and if that fails, for each small page; 0 if in each large one it succeeded
/// once.
template <class Attempt>
int for_each_page(void* address, std::size_t bytes, const Attempt& attempt) noexcept {
  if (!begins_page(address)) return refuse();
  auto* const begin = static_cast<unsigned char*>(address);
  if (attempt(begin, up(bytes)) == 0) return 0;
  for (std::size_t at = 0; at < up(bytes); at += large) {
    bool is_mapped = false;
    int failure = 0;
    for (std::size_t part = 0; part < large; part += small) {
      if (attempt(begin + at + part, small) == 0)
        is_mapped = true;
      else
        failure = errno;
    }
    if (!is_mapped) {
      errno = failure;
      return -1;
    }
  }
  return 0;
}

}  // namespace

extern "C" {

long sysconf(int name) noexcept {
  static auto* const real = next<long(int)>("sysconf");
  return name == _SC_PAGESIZE ? static_cast<long>(large) : real(name);
}

int getpagesize() noexcept {
  return static_cast<int>(large);
}

void* mmap(void* wanted, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  static auto* const real = next<void*(void*, std::size_t, int, int, int, off_t)>("mmap");
  static auto* const real_munmap = next<int(void*, std::size_t)>("munmap");
  if ((flags & MAP_FIXED) != 0 || bytes == 0) return real(wanted, bytes, protection, flags, file, offset);
  // Enough space at any address that the kernel chooses; the rest is unmapped.
  auto* const room = static_cast<unsigned char*>(
      real(nullptr, up(bytes) + large, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (room == MAP_FAILED) return MAP_FAILED;
  auto* const begin = reinterpret_cast<unsigned char*>(up(reinterpret_cast<std::uintptr_t>(room)));
  void* const made = real(begin, bytes, protection, flags | MAP_FIXED, file, offset);
  const int failure = errno;
  // The rest of its last page stays unused.
  auto* const kept_to = made == MAP_FAILED ? begin : begin + up(bytes);
  if (begin != room) real_munmap(room, static_cast<std::size_t>(begin - room));
  if (auto* const end = room + up(bytes) + large; end != kept_to)
    real_munmap(kept_to, static_cast<std::size_t>(end - kept_to));
  errno = failure;
  return made;
}

void* mmap64(void* wanted, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  return mmap(wanted, bytes, protection, flags, file, offset);
}

int munmap(void* address, std::size_t bytes) noexcept {
  static auto* const real = next<int(void*, std::size_t)>("munmap");
  return begins_page(address) ? real(address, up(bytes)) : refuse();
}

void* mremap(void* old, std::size_t old_bytes, std::size_t bytes, int flags, ...) noexcept {
  static auto* const real = next<void*(void*, std::size_t, std::size_t, int, ...)>("mremap");
  std::va_list rest;
  va_start(rest, flags);
  void* const wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void*) : nullptr;
  va_end(rest);
  if (!begins_page(old)) {
    errno = EINVAL;
    return MAP_FAILED;
  }
  if (wanted != nullptr) return real(old, old_bytes, bytes, flags, wanted);
  // The kernel's choice of address might not be the begin of a large page.
  void* const room = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return room == MAP_FAILED ? MAP_FAILED
                            : real(old, old_bytes, bytes, flags | MREMAP_MAYMOVE | MREMAP_FIXED, room);
}

int madvise(void* address, std::size_t bytes, int advice) noexcept {
  static auto* const real = next<int(void*, std::size_t, int)>("madvise");
  return for_each_page(address, bytes,
                       [&](void* begin, std::size_t size) { return real(begin, size, advice); });
}

int msync(void* address, std::size_t bytes, int flags) {
  static auto* const real = next<int(void*, std::size_t, int)>("msync");
  return for_each_page(address, bytes,
                       [&](void* begin, std::size_t size) { return real(begin, size, flags); });
}

/// Reports each page as resident: callers here only ask whether it is mapped.
int mincore(void* address, std::size_t bytes, unsigned char* resident) noexcept {
  static auto* const real = next<int(void*, std::size_t, unsigned char*)>("mincore");
  std::fill_n(resident, up(bytes) / large, static_cast<unsigned char>(1));
  return for_each_page(address, bytes, [&](void* begin, std::size_t size) {
    unsigned char small_ones[64];
    return size > sizeof small_ones * small ? -1 : real(begin, size, small_ones);
  });
}

int mprotect(void* address, std::size_t bytes, int protection) noexcept {
  static auto* const real = next<int(void*, std::size_t, int)>("mprotect");
  return begins_page(address) ? real(address, bytes, protection) : refuse();
}

/// For the library's arguments: one local range, and one or two remote ones, the last of which may be a word.
ssize_t process_vm_writev(pid_t of, const iovec* from, unsigned long from_ranges, const iovec* to,
                          unsigned long to_ranges, unsigned long flags) noexcept {
  static auto* const real =
      next<ssize_t(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long)>(
          "process_vm_writev");
  const iovec& last = to[to_ranges - 1];
  if (from_ranges != 1 || last.iov_len != 8) return real(of, from, from_ranges, to, to_ranges, flags);
  const std::size_t head = to_ranges == 1 ? 0 : to->iov_len;
  const auto copy = [&](std::size_t offset, void* place, std::size_t bytes) {
    const iovec here{static_cast<unsigned char*>(from->iov_base) + offset, bytes};
    const iovec there{place, bytes};
    return real(of, &here, 1, &there, 1, flags);
  };
  const ssize_t first = head == 0 ? 0 : copy(0, to->iov_base, head);
  if (first != static_cast<ssize_t>(head)) return first;
  auto* const word = static_cast<unsigned char*>(last.iov_base);
  if (const ssize_t half = copy(head + 4, word + 4, 4); half != 4) return head == 0 ? half : first;
  sched_yield();
  return copy(head, word, 4) == 4 ? first + 8 : first;
}

}  // extern "C"
