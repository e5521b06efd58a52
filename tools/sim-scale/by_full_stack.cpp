// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>

#include <fmt/format.h>

#include <chorale/core/clock.hpp>
#include <chorale/simulation/run.hpp>

#include "trial.hpp"

namespace sim_scale {
namespace {

namespace sim = chorale::simulation;

/// Interval between the begins of calls, longer than any call.
constexpr sim::duration apart = std::chrono::milliseconds{500};
/// Time after each call in which a rank answers connection requests.
constexpr sim::duration attention = std::chrono::milliseconds{2};

/// Waits for the begin of call number `number`, from 1. Others may still need answers of this rank.
sim::instant begin_together(chorale::transport::rc& net, std::uint64_t number) {
  const sim::instant begin{apart * static_cast<std::int64_t>(number)};
  const auto heeded = sim::now() + attention;
  while (sim::now() < heeded) {
    net.progress();
    chorale::clock::give_way();
  }
  if (sim::now() > begin)
    throw std::runtime_error(fmt::format("call {} of rank {} has lasted until {} ns, longer than 500 ms",
                                         number - 1, net.rank(),
                                         sim::now().time_since_epoch().count() / 1000));
  // Simultaneous events happen in the order in which they were scheduled: here in the order of the ranks, as
  // with ghosts, so that in both models the same one of simultaneously posted messages is first.
  sim::compute(begin - sim::duration{net.size() - net.rank()} - sim::now());
  sim::compute(begin - sim::now());
  return begin;
}

}  // namespace

std::vector<outcome> run_by_full_stack(const sim::machine& on, int ranks, chorale::operation what,
                                       const std::vector<std::size_t>& sizes, int calls, full_call begin) {
  std::vector<outcome> results(sizes.size());
  const auto room = room_for(what, ranks, *std::max_element(sizes.begin(), sizes.end()));
  const auto body = [&](sim::group& group) {
    chorale::transport::rc net{group, chorale::config{}};
    std::vector<std::byte> in(room);
    std::vector<std::byte> out(room);
    std::uint64_t number = 0;
    for (std::size_t size = 0; size < sizes.size(); ++size) {
      for (int call = 0; call < calls; ++call) {
        const auto since = begin_together(net, ++number);
        const auto now = net.begin(named(what, sizes[size]));
        auto program = begin(net, now, sizes[size], in, out);
        program.resume();
        program.result();
        net.complete(now);
        if (call == calls - 1) results[size].time = std::max(results[size].time, sim::now() - since);
      }
    }
    begin_together(net, ++number);
  };
  sim::run(ranks, on, body);
  return results;
}

}  // namespace sim_scale
