#include "by_full_stack.hpp"

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

/// Calls begin so long after one another, which is more than any lasts.
constexpr sim::duration apart = std::chrono::milliseconds{500};
/// So long a rank answers others that make connections, after each call.
constexpr sim::duration attention = std::chrono::milliseconds{2};

/// Waits for the beginning of call number `number`, from 1. Others may still want an answer of this rank.
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
  // What happens at one instant happens in the order in which it was asked for: in that of the ranks, as
  // ghosts begin, so that both have the same message first where many are posted at once.
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
