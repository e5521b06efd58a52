// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>

#include <chorale/core/origin.hpp>

namespace chorale::detail {
namespace {

constinit unsigned count = 0;
// *known is 1 in this process, and 0 in a new child, also after a raw clone() or _Fork(), which run no
// handlers.
constinit unsigned nowhere = 1;
constinit unsigned* known = &nowhere;

void count_this_process() noexcept {
  ++count;
  *known = 1;
}

struct abandoned_object {
  abandoned_object* before;
};
constinit std::atomic<abandoned_object*> last_abandoned{nullptr};

// Runs when the library is loaded: handlers in a child run in the order of registration, so this one runs
// before any handler of the program can destroy objects. Without memory for both handler and page, children
// are not detected.
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
  void* const place = ::operator new(sizeof(abandoned_object) + bytes, std::nothrow);
  if (place == nullptr) return;
  auto* const copy = new (place) abandoned_object{};
  std::memcpy(copy + 1, object, bytes);
  copy->before = last_abandoned.exchange(copy);
}

}  // namespace chorale::detail
