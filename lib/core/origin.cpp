#include <atomic>
#include <cstring>
#include <pthread.h>

#include <chorale/core/origin.hpp>

namespace chorale::detail {
namespace {

constinit unsigned count = 0;

struct remains {
  remains* before;
};
constinit std::atomic<remains*> last_remains{nullptr};

// When the library is loaded: the handlers of children run in the order of registration, so no handler of the
// program destroys anything before this one has run. Without memory for the handler, children are not
// recognized.
[[gnu::constructor]] void count_forks() noexcept {
  static_cast<void>(pthread_atfork(nullptr, nullptr, [] { ++count; }));
}

}  // namespace

unsigned origin::forks() noexcept {
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
