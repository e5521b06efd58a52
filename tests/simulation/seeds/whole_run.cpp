// SPDX-License-Identifier: Apache-2.0
#include "whole_run.hpp"

#include <algorithm>
#include <chrono>
#include <malloc.h>

#include <fmt/format.h>

#include <chorale/simulation/run.hpp>

#include "../../support/simulated.hpp"
#include "judge.hpp"
#include "play.hpp"
#include "schedule.hpp"

namespace seeds {
namespace {

namespace sim = chorale::simulation;

/// Memory that a process creates once and keeps is less than this.
constexpr std::size_t most_kept_bytes = std::size_t{1} << 20;

sim::machine machine_for(const schedule& s) {
  sim::machine m = support::test_machine(s.ranks);
  m.ranks_per_host = s.ranks_per_host;
  m.hosts = (s.ranks + s.ranks_per_host - 1) / s.ranks_per_host;
  m.host.cores = s.cores;
  m.host.context_switch = std::chrono::microseconds{1};
  m.network.shape = sim::one_switch{m.hosts};
  m.network.packets.payload = s.mtu;
  if (s.near) m.near = support::test_near();
  return m;
}

/// Runs the schedule; returns its exception as text.
std::string run(const schedule& s, history& all, sim::run_result& result) {
  sim::run_options options;
  options.seed = s.seed;
  options.longest = std::chrono::minutes{2};
  options.stack_bytes = std::size_t{256} << 10;
  options.wrong = s.wrong;
  options.longest_gap = std::chrono::milliseconds{1};
  options.shortest_gap = s.shortest_gap;
  try {
    result = sim::run(
        s.ranks, machine_for(s), [&](sim::group& g) { play(g, s, all); }, options);
    return {};
  } catch (const std::exception& e) {
    return std::string{"the run failed: "} + e.what() + '\n';
  }
}

}  // namespace

verdict run_seed(std::uint64_t seed, const printed& errors) {
  const schedule s = draw(seed);
  verdict made;
  made.had_faults = !s.wrong.deaths.empty() || !s.wrong.adapter_failures.empty();
  const std::size_t kept = mallinfo2().uordblks;
  std::size_t keeps = 0;
  history all;
  {
    all.ranks.resize(static_cast<std::size_t>(s.ranks));
    sim::run_result result;
    made.complaint = run(s, all, result);
    keeps = mallinfo2().uordblks;
    if (made.complaint.empty()) made.complaint = judge(s, all, {result.elapsed, errors.take()});
    made.events = result.events;
    made.digest = fmt::format("{:x} {} {}", all.hash, result.elapsed.count(), result.events);
  }
  // Killed ranks free nothing.
  if (s.wrong.deaths.empty() && keeps > kept + most_kept_bytes)
    made.complaint += fmt::format("{} bytes of memory were left behind\n", keeps - kept);
  for (const fate& one : all.ranks) {
    made.ended_well += one.end == fate::kind::well ? 1 : 0;
    made.failed += one.end == fate::kind::failed ? 1 : 0;
  }
  if (!made.complaint.empty()) made.complaint = describe(s) + all.events + made.complaint;
  return made;
}

}  // namespace seeds
