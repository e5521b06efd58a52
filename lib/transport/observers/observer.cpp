// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>
#include <utility>

#include <chorale/transport/observers/observer.hpp>

#include "../../core/immortal.hpp"
#include "../../core/over_forks.hpp"

namespace chorale {
namespace {

constinit std::mutex observers_lock;

std::vector<std::shared_ptr<observer>>& observers() {
  static detail::immortal<std::vector<std::shared_ptr<observer>>> all;
  return *all;
}

[[gnu::constructor]] void hold_observers_over_forks() noexcept {
  detail::hold_over_forks<observers_lock>();
}

}  // namespace

void observe(std::shared_ptr<observer> one) {
  if (!one) return;
  const std::lock_guard hold{observers_lock};
  observers().push_back(std::move(one));
}

void stop_observing(const std::shared_ptr<observer>& one) {
  const std::lock_guard hold{observers_lock};
  std::erase(observers(), one);
}

std::vector<std::shared_ptr<observer>> process_observers() {
  const std::lock_guard hold{observers_lock};
  return observers();
}

}  // namespace chorale
