// SPDX-License-Identifier: Apache-2.0
#include "streams_reserved.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <mutex>
#include <new>
#include <pthread.h>
#include <unistd.h>

namespace chorale::detail {
namespace {

class reservations {
 public:
  void begin() noexcept {
    const std::lock_guard hold{lock_};
    ++users_;
    for (int stream = 0; stream < streams; ++stream) {
      if (fcntl(stream, F_GETFD) >= 0) continue;
      // open() returns the lowest free descriptor.
      const int got = open("/", O_PATH | O_CLOEXEC);
      if (got >= streams)
        close(got);  // the program has opened the stream meanwhile
      else if (got >= 0)
        ours_[static_cast<std::size_t>(got)] = true;
    }
  }
  void end() noexcept {
    const std::lock_guard hold{lock_};
    // In a child, users counted by the parent may end without having begun here.
    if (users_ > 0 && --users_ == 0) give_back();
  }
  void end_in_child() noexcept {
    new (&lock_) std::mutex;
    users_ = 0;
    give_back();
  }

 private:
  static constexpr int streams = 3;

  void give_back() noexcept {
    for (int stream = 0; stream < streams; ++stream) {
      bool& is_ours = ours_[static_cast<std::size_t>(stream)];
      // The program may have replaced the descriptor.
      if (const int flags = is_ours ? fcntl(stream, F_GETFL) : -1; flags >= 0 && (flags & O_PATH) != 0)
        close(stream);
      is_ours = false;
    }
  }

  std::mutex lock_;
  int users_ = 0;
  std::array<bool, streams> ours_{};
};

constinit reservations reserved;

[[gnu::constructor]] void handle_forks_when_loaded() noexcept {
  streams_reserved::handle_forks();
}

}  // namespace

streams_reserved::streams_reserved() noexcept {
  const int saved = errno;
  reserved.begin();
  errno = saved;
}

streams_reserved::~streams_reserved() {
  const int saved = errno;
  reserved.end();
  errno = saved;
}

void streams_reserved::handle_forks() noexcept {
  static constinit std::once_flag once;
  try {
    std::call_once(
        once, [] { static_cast<void>(pthread_atfork(nullptr, nullptr, [] { reserved.end_in_child(); })); });
  } catch (...) {
    // Without the handler, a child that opens a device may wait for a lock held by a thread of its parent.
  }
}

}  // namespace chorale::detail
