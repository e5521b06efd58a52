// SPDX-License-Identifier: Apache-2.0
#include "shared_staging.hpp"

#include <algorithm>

namespace chorale::transport {

bool shared_place::is_read() const noexcept {
  return std::all_of(sends_.begin(), sends_.end(),
                     [](const posted& send) { return send.by->completed >= send.ticket; });
}

shared_place* shared_staging::take(shared_place* others) {
  shared_place& oldest = places_[next_];
  if (oldest.is_open_) return nullptr;
  if (!oldest.is_read()) {
    links_->reap();
    if (!oldest.is_read()) return nullptr;
  }
  if (oldest.memory_.data == nullptr) oldest.memory_ = by_->pool.take(bytes_);
  oldest.sends_.clear();
  oldest.is_open_ = true;
  oldest.by_ = by_;
  oldest.next_ = others;
  next_ = (next_ + 1) % places_.size();
  return &oldest;
}

std::size_t shared_staging::registered_bytes() const noexcept {
  std::size_t all = 0;
  for (const shared_place& p : places_) all += in_cache_lines(p.memory_.bytes);
  return all;
}

}  // namespace chorale::transport
