// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <utility>

#include <chorale/core/error.hpp>
#include <chorale/core/while_waiting.hpp>

namespace chorale {

while_waiting::while_waiting(std::function<bool()> drive) : drive_(std::move(drive)), of_(&mine()) {
  if (!drive_)
    throw error(errc::invalid_argument, "while_waiting: the function is empty; pass one that returns a bool");
  enlist();
  ++driven_here().functions;
}

while_waiting::~while_waiting() {
  const bool is_here = of_ == &mine();
  // The other thread's list may be in use.
  if (is_called_ || (is_enlisted() && !is_here)) std::terminate();
  if (is_enlisted()) leave();
  if (has_failed_ && is_here) driven_here().failure = nullptr;
}

background::remainder while_waiting::advance(attention) noexcept {
  is_called_ = true;
  try {
    set_outstanding(drive_());
  } catch (...) {
    driven_here().failure = std::current_exception();
    has_failed_ = true;
    leave();
  }
  is_called_ = false;
  return is_outstanding_ ? remainder{.waited = clock::duration::zero()} : remainder{};
}

void while_waiting::set_outstanding(bool is) noexcept {
  driven_here().outstanding += int{is} - int{is_outstanding_};
  is_outstanding_ = is;
}

void while_waiting::leave() noexcept {
  set_outstanding(false);
  --driven_here().functions;
  delist();
}

}  // namespace chorale
