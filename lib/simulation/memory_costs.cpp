// SPDX-License-Identifier: Apache-2.0
#include "memory_costs.hpp"

#include <algorithm>

#include "scheduler.hpp"

namespace chorale::simulation {
namespace {

/// The core of the running fiber.
written_memory::core core_now() noexcept {
  const scheduler& all = *scheduler::running();
  return all.core_of(all.current_rank());
}

/// The time of work by the running core on two operands of `bytes` each. Bytes that were received cost more
/// if `of_received` says so. `touch` marks the operands as touched by that core and returns the number of
/// received bytes.
template <class Touch>
duration work_on(const written_memory& written, const void* one, const void* other, std::size_t bytes,
                 const work_cost& of_received, const work_cost& of_others, Touch touch) {
  const auto core = core_now();
  const std::size_t distance = written.reuse_distance(one, bytes, core);
  const std::size_t other_distance = written.reuse_distance(other, bytes, core);
  std::size_t received = touch(core);
  if (of_received.steps().empty()) received = 0;
  return (received != 0 ? of_received(received) : duration{}) +
         (received != bytes || bytes == 0 ? of_two(of_others, bytes - received, distance, other_distance)
                                          : duration{});
}

}  // namespace

memory_costs::memory_costs(const machine& on, const host_layout& ranks)
    : on_(&on),
      ranks_(ranks),
      written_(depends_on_touches()),
      near_(on.near, static_cast<std::size_t>(ranks.hosts())) {}

bool memory_costs::depends_on_adapters() const noexcept {
  return !on_->host.copy_received.steps().empty() || !on_->host.combine_received.steps().empty() ||
         depends_on_touches();
}

std::function<duration(const void*, const void*, std::size_t)> memory_costs::copies() {
  if (!depends_on_adapters() && !near_.is_modelled()) return {};
  return [this](const void* to, const void* from, std::size_t bytes) {
    const host_costs& host = on_->host;
    const duration alone = depends_on_adapters()
                               ? work_on(written_, to, from, bytes, host.copy_received, host.copy,
                                         [&](auto core) { return written_.copied(to, from, bytes, core); })
                               : host.copy(bytes);
    return work(alone, bytes, near_.is_modelled() ? passed_.copied(to, from, bytes, core_now()) : 0);
  };
}

std::function<duration(const void*, const void*, std::size_t)> memory_costs::operators() {
  // Without either of these costs, combined data do not count as touched.
  const bool depends = !on_->host.combine_received.steps().empty() || depends_on_touches();
  if (!depends && !near_.is_modelled()) return {};
  return [this, depends](const void* mine, const void* other, std::size_t bytes) {
    const host_costs& host = on_->host;
    const duration alone =
        depends ? work_on(written_, mine, other, bytes, host.combine_received, host.combine,
                          [&](auto core) { return written_.combined(mine, other, bytes, core); })
                : host.combine(bytes);
    return work(alone, bytes, near_.is_modelled() ? passed_.combined(mine, other, bytes, core_now()) : 0);
  };
}

duration memory_costs::copy(std::uint64_t bytes, std::uint64_t elsewhere) noexcept {
  return work(on_->host.copy(bytes), bytes, elsewhere);
}

duration memory_costs::work(duration alone, std::uint64_t bytes, std::uint64_t elsewhere) noexcept {
  const scheduler& all = *scheduler::running();
  const auto host = static_cast<std::size_t>(ranks_.host_of(std::max(all.current_rank(), 0)));
  return near_.time({alone, bytes, elsewhere}, host, all.now());
}

}  // namespace chorale::simulation
