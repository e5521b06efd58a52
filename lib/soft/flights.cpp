// SPDX-License-Identifier: Apache-2.0
// Datagrams in flight in the deferred engine: reordered, duplicated, lost.
#include <algorithm>

#include "datagram.hpp"
#include "process.hpp"

namespace chorale::soft {

void flights::put(process& self, std::uint64_t due, std::uint32_t qpn, const datagram_header& header,
                  std::span<const local_piece> payload) {
  flight f{due, qpn, header, {}};
  for (const local_piece& p : payload) f.payload.insert(f.payload.end(), p.data, p.data + p.bytes);
  flights_.push_back(std::move(f));
  if (flights_.size() == 1) self.wake_service();  // the program may not call the device for a long time
  self.motor().flying.store(static_cast<std::uint32_t>(flights_.size()), std::memory_order_relaxed);
}

void flights::launch(process& self, std::uint64_t sender, std::uint64_t number, std::uint32_t copy,
                     std::uint32_t qpn, const datagram_header& header,
                     std::span<const local_piece> payload) noexcept {
  engine& e = self.motor();
  const auto roll = [&](matter what) { return dice{e.settings, what, sender << 24 | copy, number}; };
  if (roll(matter::loss).happens(e.settings.loss)) {
    e.counters.lost.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  dice flight_dice = roll(matter::flight);
  const bool twice = roll(matter::duplication).happens(e.settings.duplication);
  if (twice) e.counters.duplicated.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < (twice ? 2 : 1); ++i) {
    const std::uint64_t ticks = flight_dice.ticks();
    if (ticks != 0) {
      try {
        put(self, e.now() + ticks, qpn, header, payload);
        e.remind(e.now() + ticks);
        continue;
      } catch (...) {  // no memory to delay it
      }
    }
    if (!flights_.empty()) e.counters.reordered.fetch_add(1, std::memory_order_relaxed);
    deliver_datagram(self, regions_, qpn, header, payload);
  }
}

void flights::land(process& self, bool all) noexcept {
  const std::lock_guard lock(mutex_);
  const std::uint64_t now = self.motor().now();
  std::stable_sort(flights_.begin(), flights_.end(),
                   [](const flight& a, const flight& b) { return a.due < b.due; });
  std::erase_if(flights_, [&](flight& f) {
    if (f.due > now && !all) {
      self.motor().remind(f.due);
      return false;
    }
    const local_piece whole{f.payload.data(), f.payload.size()};
    deliver_datagram(self, regions_, f.qpn, f.header, {&whole, 1});
    return true;
  });
  self.motor().flying.store(static_cast<std::uint32_t>(flights_.size()), std::memory_order_relaxed);
}

}  // namespace chorale::soft
