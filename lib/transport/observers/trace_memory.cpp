#include "trace_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chorale/core/error.hpp>

#include "../../core/printable.hpp"

namespace chorale::transport {
namespace {

constexpr std::size_t step = std::size_t{1} << 20;

}  // namespace

trace_memory::trace_memory(const detail::held_folder& folder, const std::string& name, std::size_t most)
    : most_(most), process_(getpid()), file_(folder.open(name, O_RDWR | O_CREAT | O_EXCL)) {
  void* const place = ::mmap(nullptr, most_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (place == MAP_FAILED) {
    const int why = errno;
    folder.remove(name);
    throw_errno(why, "mmap", printable(folder.path_of(name)), "choose another file for the trace");
  }
  data_ = static_cast<std::byte*>(place);
  // A child of fork() makes no calls, and must not truncate the file that its parent still writes.
  ::madvise(place, most_, MADV_DONTFORK);
}

trace_memory::~trace_memory() {
  if (getpid() != process_) return;
  ::munmap(data_, most_);
  // If that fails, the file ends in zeroes, which readers handle.
  [[maybe_unused]] const int cut = ::ftruncate(file_.get(), static_cast<off_t>(std::min(used_, room_)));
}

bool trace_memory::grow(std::size_t end) noexcept {
  if (end > most_) return false;
  const std::size_t from = room_;
  const std::size_t to = std::min(most_, (end + step - 1) / step * step);
  int failure = EINTR;
  // On some file systems a signal, such as a profiler's, interrupts the call, which has then had no effect.
  for (int attempts_left = 100; failure == EINTR && attempts_left > 0; --attempts_left)
    failure = ::posix_fallocate(file_.get(), static_cast<off_t>(from), static_cast<off_t>(to - from));
  if (failure != 0) return false;
  room_ = to;
#ifdef MADV_POPULATE_WRITE
  // Faulting in all pages at once takes a third of the time. Older kernels do not support it; then pages
  // fault one by one.
  ::madvise(data_ + from, to - from, MADV_POPULATE_WRITE);
#endif
  return true;
}

}  // namespace chorale::transport
