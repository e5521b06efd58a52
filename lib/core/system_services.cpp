// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chorale/core/error.hpp>
#include <chorale/core/system_services.hpp>
#include <chorale/core/uncancellable.hpp>

#include "helper_thread.hpp"

namespace chorale {
namespace {

class thread_helper final : public helper {
 public:
  explicit thread_helper(std::function<void()> work)
      : thread_(detail::start_helper_thread(std::move(work))) {}
  void join() override {
    const detail::uncancellable ends_first;
    thread_.join();
  }

 private:
  std::thread thread_;
};

}  // namespace

constinit thread_local system_services* system_services::replaced_ = nullptr;

std::uint64_t unguessable_word() {
  if (system_services* const instead = system_services::replaced()) return instead->random_word();
  std::uint64_t word = 0;
  if (getentropy(&word, sizeof word) != 0)
    throw error(errc::unsupported,
                "getentropy() gives no random bytes: a kernel older than 3.17, or a sandbox that forbids "
                "getrandom(2)");
  return word;
}

std::unique_ptr<helper> start_helper(std::function<void()> work) {
  if (system_services* const instead = system_services::replaced())
    return instead->start_helper(std::move(work));
  return std::make_unique<thread_helper>(std::move(work));
}

}  // namespace chorale
