// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include <chorale/core/error.hpp>
#include <chorale/simulation/run.hpp>

#include "device/fabric.hpp"
#include "device/near_device.hpp"
#include "device/software_copies.hpp"
#include "device/wire.hpp"
#include "memory_costs.hpp"
#include "scheduler.hpp"
#include "world.hpp"

namespace chorale::simulation {
namespace {

/// Sets the random numbers of the hosts' soft0 apart from those of adapters.
constexpr std::uint64_t of_near = 0x9e3779b97f4a7c15;

/// The cost of a context switch between ranks that share a core, by the number of ranks on the fullest core.
duration context_switch_of(const host_layout& ranks, const machine& on) noexcept {
  const bool crowded = (ranks.largest() - 1) / on.host.cores >= 2;
  return crowded ? on.host.crowded_context_switch.value_or(on.host.context_switch) : on.host.context_switch;
}

scheduler_options options_for(const host_layout& ranks, const machine& on, const run_options& options,
                              memory_costs& memory) {
  scheduler_options made;
  made.stack_bytes = options.stack_bytes;
  made.poll = on.host.waiting_look();
  made.longest_gap = options.longest_gap;
  made.shortest_gap = std::min(options.shortest_gap, options.longest_gap);
  made.notice = on.host.notice;
  made.hosts = {.ranks = ranks,
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
  made.copied = memory.copies();
  made.combined = memory.operators();
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

/// Schedules the faults that happen at given instants. `near`: between the ranks of a host; may be null.
void plan(const faults& wrong, scheduler& time, device::fabric& net, device::fabric* near, world& all) {
  for (const auto& one : wrong.deaths)
    time.at(one.when, [&, near, rank = one.rank] {
      all.kill(rank);
      net.abandon(rank);
      if (near != nullptr) near->abandon(rank);
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
  const host_layout where = layout_of(ranks, on);
  if (scheduler::running() != nullptr)
    throw error(errc::misuse, "simulation::run: called by a rank of a simulation");
  validate(options.wrong, ranks, where.hosts());
  memory_costs memory{on, where};
  scheduler time{options_for(where, on, options, memory)};
  device::wire costs{on, where.hosts()};
  device::software_copies copies{on.adapter.posting, memory.written()};
  // Drawn independently of the ranks' random numbers.
  device::fabric net{time,
                     costs,
                     where,
                     {.chance = device::disturbance{options.wrong, ~options.seed},
                      .written = memory.depends_on_adapters() ? &memory.written() : nullptr,
                      .copies = copies.any() ? &copies : nullptr}};
  // On all hosts if some have several ranks, so that all ranks look for it.
  std::optional<device::near_device> near;
  if (on.near && where.largest() > 1)
    near.emplace(time, on, where, memory, device::disturbance{options.wrong, ~options.seed ^ of_near});
  world all{time,
            {.ranks = where,
             .cores = on.host.cores,
             .machine = on.name,
             .hidden_processes = options.wrong.hidden_processes},
            options.seed};
  plan(options.wrong, time, net, near ? &near->ranks() : nullptr, all);
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
