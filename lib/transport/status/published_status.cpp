// SPDX-License-Identifier: Apache-2.0
#include "published_status.hpp"

#include <algorithm>
#include <cstring>
#include <unistd.h>

#include <chorale/core/call.hpp>

#include "../group/membership.hpp"
#include "status_segment.hpp"

namespace chorale::transport {
namespace {

template <std::size_t n>
void put(std::array<char, n>& place, std::string_view text) noexcept {
  const auto bytes = std::min(text.size(), n - 1);
  std::memcpy(place.data(), text.data(), bytes);
  place[bytes] = '\0';
}

/// Marks the slot as inconsistent for readers during its lifetime.
class slot_update {
 public:
  explicit slot_update(status_slot& slot) noexcept : slot_(slot), version_(slot.version.load() | 1) {
    slot_.version.store(version_, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  }
  ~slot_update() { slot_.version.store(version_ + 1, std::memory_order_release); }
  slot_update(const slot_update&) = delete;
  slot_update& operator=(const slot_update&) = delete;

 private:
  status_slot& slot_;
  std::uint32_t version_;
};

std::int32_t this_thread() noexcept {
  static thread_local const pid_t number = gettid();
  return number;
}

void describe(status_slot& slot, const membership& group) noexcept {
  const slot_update now{slot};
  slot.group = group.numbers().name;
  slot.rank = group.rank();
  slot.size = group.size();
  slot.hosts = group.hosts();
  put(slot.host, group.host_of(group.rank()));
  const auto show = [&slot](int rank) {
    const auto bit = static_cast<std::size_t>(rank);
    if (bit < status_slot::most_here) slot.here[bit / 64] |= std::uint64_t{1} << bit % 64;
  };
  show(group.rank());
  for (const int rank : group.neighbours()) show(rank);
  slot.thread.store(this_thread(), std::memory_order_relaxed);
}

}  // namespace

published_status::published_status(const membership& group) {
  // Simulated time cannot be compared with another process's time.
  if (!clock::is_replaced()) segment_ = status_segment::of_process();
  slot_ = segment_ ? segment_->take() : nullptr;
  if (slot_ == nullptr) {
    segment_ = nullptr;
    own_ = std::make_unique<status_slot>();
    slot_ = own_.get();
  }
  describe(*slot_, group);
}

published_status::~published_status() {
  if (segment_) segment_->give_back(slot_);
}

void published_status::set_label(std::string_view label) noexcept {
  const slot_update now{*slot_};
  put(slot_->label, label);
}

void published_status::note_failure(std::string_view why) noexcept {
  const slot_update now{*slot_};
  slot_->failed = 1;
  put(slot_->failure, why);
}

void published_status::note_wait(std::uint64_t number, std::int32_t peer, clock::time_point since,
                                 clock::time_point until) noexcept {
  if (slot_->waited_call.load(std::memory_order_relaxed) != number) {
    slot_->waited_since.store(since.time_since_epoch().count(), std::memory_order_relaxed);
    slot_->waited_call.store(number, std::memory_order_relaxed);
  }
  slot_->thread.store(this_thread(), std::memory_order_relaxed);
  slot_->page.note_wait(peer, since, until);
}

void published_status::note_absence() noexcept {
  if (!segment_) return;  // private: invisible to other processes
  const std::uint64_t number = slot_->page.current();
  if (slot_->page.completed() != number || slot_->absent.after.load(std::memory_order_relaxed) == number)
    return;
  slot_->absent.since.store(clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  slot_->absent.after.store(number, std::memory_order_release);
}

}  // namespace chorale::transport
