#include <atomic>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>

#include <chorale/core/origin.hpp>

namespace chorale::detail {
namespace {

constinit unsigned count = 0;
// Zero in a child whose parent had 1 here, also of a raw clone() and of _Fork(), which run no handlers.
constinit unsigned nowhere = 1;
constinit unsigned* known = &nowhere;

void count_this_process() noexcept {
  ++count;
  *known = 1;
}

struct remains {
  remains* before;
};
constinit std::atomic<remains*> last_remains{nullptr};

// When the library is loaded: the handlers of children run in the order of registration, so no handler of the
// program destroys anything before this one has run. Without memory for handler and page, children are not
// recognized.
[[gnu::constructor]] void count_forks() noexcept {
  static_cast<void>(pthread_atfork(nullptr, nullptr, &count_this_process));
  void* const page = mmap(nullptr, sizeof *known, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED || madvise(page, sizeof *known, MADV_WIPEONFORK) != 0) return;
  known = static_cast<unsigned*>(page);
  *known = 1;
}

}  // namespace

unsigned origin::forks() noexcept {
  if (*known == 0) [[unlikely]]
    count_this_process();
  return count;
}

void origin::abandon(const void* object, std::size_t bytes) noexcept {
  void* const place = ::operator new(sizeof(remains) + bytes, std::nothrow);
  if (place == nullptr) return;
  auto* const copy = new (place) remains{};
  std::memcpy(copy + 1, object, bytes);
  copy->before = last_remains.exchange(copy);
}

}  // namespace chorale::detail
