// SPDX-License-Identifier: Apache-2.0
#include "trace_file.hpp"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include <chorale/core/error.hpp>

#include "../../core/printable.hpp"

namespace chorale::transport {
namespace {

constexpr std::size_t digits = 21;  // with the line break
/// A smaller tail is flushed more often: an eighth of this size costs twice as much for each byte.
constexpr std::size_t tail_bytes = std::size_t{1} << 19;

/// Stores one byte after all earlier stores, for readers of the file of a killed process.
void store_last(char& to, char byte) noexcept {
  std::atomic_ref{to}.store(byte, std::memory_order_release);
}

/// 0, or why there is no disk space for a file of `bytes`.
int allocate(int file, std::size_t bytes) noexcept {
  int failure = EINTR;
  // On some file systems a signal, such as a profiler's, interrupts the call, which has then had no effect.
  for (int attempts_left = 100; failure == EINTR && attempts_left > 0; --attempts_left)
    failure = ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
  return failure;
}

char* mapped(const detail::unique_fd& file) noexcept {
  errno = allocate(file.get(), tail_bytes);  // otherwise a full disk would raise a signal
  if (errno != 0) return nullptr;
  void* const place = ::mmap(nullptr, tail_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (place == MAP_FAILED) return nullptr;
  // A child of fork() makes no calls, and must not write to the file of its parent.
  ::madvise(place, tail_bytes, MADV_DONTFORK);
  return static_cast<char*>(place);
}

}  // namespace

trace_file::trace_file(detail::held_folder folder, std::string name)
    : process_(getpid()),
      folder_(std::move(folder)),
      name_(std::move(name)),
      file_(folder_.open(name_ + ".json", O_WRONLY | O_CREAT | O_EXCL)) {
  tail_ = mapped(folder_.open(name_ + ".tail", O_RDWR | O_CREAT | O_EXCL));
  if (tail_ == nullptr) {
    const int why = errno;
    for (const char* ending : {".json", ".tail"}) folder_.remove(name_ + ending);
    throw_errno(why, "mmap", printable(folder_.path_of(name_ + ".tail")),
                "make room on the disk, or choose another file for the trace");
  }
  next_ = tail_ + digits;
  end_ = tail_ + tail_bytes;
  set_size(0);
}

trace_file::~trace_file() {
  if (getpid() != process_) return;
  if (flush()) folder_.remove(name_ + ".tail");
  ::munmap(tail_, tail_bytes);
}

void trace_file::set_size(std::uint64_t bytes) noexcept {
  size_ = bytes;
  tail_[digits - 1] = '\n';
  for (char* to = tail_ + digits - 1; to != tail_; bytes /= 10) *--to = static_cast<char>('0' + bytes % 10);
}

void trace_file::complete(char first, char* end) noexcept {
  *end = '\0';
  chorale::transport::store_last(*next_, first);
  next_ = end;
}

/// Moves the tail to the end of the file. False with errno on failure.
bool trace_file::flush() noexcept {
  char* const begin = tail_ + digits;
  for (const char* from = begin; from != next_;) {
    const auto at = static_cast<off_t>(size_) + (from - begin);
    const auto bytes = ::pwrite(file_.get(), from, static_cast<std::size_t>(next_ - from), at);
    if (bytes < 0 && errno != EINTR) return false;
    if (bytes > 0) from += bytes;
  }
  const auto moved = static_cast<std::uint64_t>(next_ - begin);
  // Emptied before the size changes: in the other order, a process killed in between would leave the text
  // twice.
  next_ = begin;
  chorale::transport::store_last(*next_, '\0');
  set_size(size_ + moved);
  return true;
}

}  // namespace chorale::transport
