// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include <chorale/core/error.hpp>
#include <chorale/simulation/run.hpp>
#include <chorale/verbs/device.hpp>

#include "device/fabric.hpp"
#include "device/wire.hpp"
#include "scheduler.hpp"
#include "world.hpp"
#include "written_memory.hpp"

namespace chorale::simulation {
namespace {

/// Whether the machine's costs depend on the bytes that adapters have written.
bool knows_written_memory(const machine& on) {
  return !on.host.copy_received.steps().empty() || !on.host.combine_received.steps().empty() ||
         !on.adapter.posting.copy.steps().empty();
}

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

/// The cost of a context switch between ranks that share a core, by the number of ranks on the fullest core.
duration context_switch_of(int ranks, const machine& on) noexcept {
  const bool crowded = (std::min(ranks, on.ranks_per_host) - 1) / on.host.cores >= 2;
  return crowded ? on.host.crowded_context_switch.value_or(on.host.context_switch) : on.host.context_switch;
}

scheduler_options options_for(int ranks, const machine& on, const run_options& options,
                              written_memory& written) {
  scheduler_options made;
  made.seed = options.seed;
  made.stack_bytes = options.stack_bytes;
  made.poll = on.host.waiting_look();
  made.longest_gap = options.longest_gap;
  made.shortest_gap = std::min(options.shortest_gap, options.longest_gap);
  made.notice = on.host.notice;
  made.hosts = {.ranks = ranks,
                .ranks_per_host = on.ranks_per_host,
                .cores = on.host.cores,
                .costs = {.look = made.poll, .context_switch = context_switch_of(ranks, on)}};
  made.end = instant{options.longest};
  made.record = options.record;
  made.progress = options.progress;
  made.work = [host = on.host](host_work what, std::size_t bytes) {
    switch (what) {
      case host_work::call:
        return host.call;
      case host_work::copy:
        return host.copy(bytes);
      case host_work::combine:
        return host.combine(bytes);
      case host_work::own:
        return host.own(bytes);
      case host_work::send:
        return host.send;
      case host_work::receive:
        return host.receive;
      case host_work::match:
        return host.match;
    }
    return duration{};
  };
  if (!knows_written_memory(on)) return made;
  made.copied = [&host = on.host, &written](const void* to, const void* from, std::size_t bytes) {
    return work_on(written, to, from, bytes, host.copy_received, host.copy,
                   [&](auto core) { return written.copied(to, from, bytes, core); });
  };
  // Without either of these costs, combined data do not count as touched.
  if (!on.host.combine_received.steps().empty() || !on.adapter.posting.copy.steps().empty())
    made.combined = [&host = on.host, &written](const void* mine, const void* other, std::size_t bytes) {
      return work_on(written, mine, other, bytes, host.combine_received, host.combine,
                     [&](auto core) { return written.combined(mine, other, bytes, core); });
    };
  return made;
}

/// Refuses faults of ranks or hosts that do not exist, and probabilities above 1.
void validate(const faults& wrong, int ranks, int hosts) {
  const auto refuse = [](const std::string& what) {
    throw error(errc::invalid_argument, "simulation::run: " + what);
  };
  const auto check = [&](const char* what, int number, int room, instant when) {
    if (number < 0 || number >= room)
      refuse(std::string{what} + ' ' + std::to_string(number) + " is to fail, and there are " +
             std::to_string(room));
    if (when < instant{})
      refuse(std::string{what} + ' ' + std::to_string(number) + " is to fail before it is there");
  };
  for (const auto& one : wrong.deaths) check("rank", one.rank, ranks, one.when);
  for (const auto& one : wrong.stops) check("rank", one.rank, ranks, one.when);
  for (const auto& one : wrong.deafnesses) check("rank", one.rank, ranks, one.when);
  for (const auto& one : wrong.adapter_failures) check("the adapter of host", one.host, hosts, one.when);
  for (const std::uint32_t chance : {wrong.lost, wrong.repeated, wrong.delayed, wrong.held_up})
    if (chance > 1'000'000) refuse("a chance of " + std::to_string(chance) + " in a million");
  if (wrong.longest_delay < duration::zero()) refuse("messages cannot come before they are sent");
}

/// Schedules the faults that happen at given instants.
void plan(const faults& wrong, scheduler& time, device::fabric& net, world& all) {
  for (const auto& one : wrong.deaths)
    time.at(one.when, [&, rank = one.rank] {
      all.kill(rank);
      net.abandon(rank);
    });
  for (const auto& one : wrong.stops)
    time.at(one.when, [&, one] { all.stop(one.rank, one.when + one.time); });
  for (const auto& one : wrong.adapter_failures) time.at(one.when, [&, host = one.host] { net.fail(host); });
}

scheduler& running(const char* call) {
  scheduler* const now = scheduler::running();
  if (now == nullptr || now->current() == nullptr)
    throw error(errc::misuse, std::string{"simulation::"} + call + ": no rank of a simulation runs here");
  return *now;
}

}  // namespace

run_result run(int ranks, const machine& on, const std::function<void(group&)>& body,
               const run_options& options) {
  detail::require_same_layouts();
  validate(on);
  const long long room = static_cast<long long>(on.hosts) * on.ranks_per_host;
  if (ranks < 1 || ranks > room)
    throw error(errc::invalid_argument, "simulation::run: " + std::to_string(ranks) + " ranks on machine '" +
                                            on.name + "', which has room for 1 to " + std::to_string(room));
  if (scheduler::running() != nullptr)
    throw error(errc::misuse, "simulation::run: called by a rank of a simulation");
  const int hosts = (ranks + on.ranks_per_host - 1) / on.ranks_per_host;
  validate(options.wrong, ranks, hosts);
  written_memory written{!on.adapter.posting.copy.steps().empty()};
  scheduler time{options_for(ranks, on, options, written)};
  device::wire costs{on, hosts};
  // Drawn independently of the ranks' random numbers.
  device::fabric net{time,
                     costs,
                     hosts,
                     on.ranks_per_host,
                     device::disturbance{options.wrong, ~options.seed},
                     knows_written_memory(on) ? &written : nullptr,
                     device::software_copies{on.adapter.posting, written}};
  world all{time,
            {.ranks = ranks,
             .ranks_per_host = on.ranks_per_host,
             .cores = on.host.cores,
             .machine = on.name,
             .hidden_processes = options.wrong.hidden_processes},
            options.seed};
  plan(options.wrong, time, net, all);
  const verbs::driver* const only = &device::driver();
  const verbs::replaced_drivers replaced{{&only, 1}};
  all.run(body);
  return {time.now().time_since_epoch(), time.events(), costs.links().loads()};
}

instant now() {
  return running("now").now();
}

void compute(duration time) {
  scheduler& all = running("compute");
  if (time < duration::zero()) throw error(errc::invalid_argument, "simulation::compute: a negative time");
  all.charge(time, activity::compute);
  all.settle();
}

phase::phase(std::string name, std::uint64_t bytes) : name_(std::move(name)) {
  const scheduler& all = running("phase");
  noted_ = {.thread = all.current_thread(), .rank = all.current_rank(), .bytes = bytes, .begin = all.now()};
}

phase::~phase() {
  const scheduler* const all = scheduler::running();
  if (all == nullptr || all->recording() == nullptr) return;
  noted_.end = all->now();
  try {
    all->recording()->add(name_, noted_);
  } catch (const std::bad_alloc&) {  // the caller finds the result missing
  }
}

}  // namespace chorale::simulation
