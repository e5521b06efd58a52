// SPDX-License-Identifier: Apache-2.0
// Collectives on groups of any size in virtual time, by ghosts: the table of all algorithms, and the
// agreement of ghosts with the full stack.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <chorale/simulation/machine/machine.hpp>

#include "../../lib/core/printable.hpp"
#include "../bench/options.hpp"
#include "../bench/tune.hpp"
#include "../open_files.hpp"
#include "models.hpp"
#include "options.hpp"
#include "table.hpp"

namespace {

using namespace sim_scale;

/// The first call makes connections, the second registers the remaining memory.
constexpr int calls = 3;

double microseconds(chorale::simulation::duration d) {
  return static_cast<double>(d.count()) / 1e6;
}

/// Prints both models' times. True if none differs by more than the tolerance. Registration costs nothing
/// here: ghosts do not register, and whether the full stack does depends on the addresses of temporary
/// memory.
bool agree(const options& wanted, const std::vector<candidate>& all_of_them,
           chorale::simulation::machine on) {
  on.adapter.registration = {};
  chorale::say(stdout, "{:<14} {:<24} {:>6} {:>8} {:>12} {:>12} {:>7}\n", "operation", "algorithm", "ranks",
               "bytes", "full, us", "ghosts, us", "error");
  int beyond = 0;
  int all = 0;
  double worst = 0;
  for (const auto& one : all_of_them) {
    const auto sizes = one.what == chorale::operation::barrier ? std::vector<std::size_t>{0} : wanted.sizes;
    for (const int ranks : wanted.ranks) {
      // With the same earlier calls, so that blocks are acknowledged in the same calls.
      const auto full = one.by_full_stack(on, ranks, sizes, calls);
      const auto ghosts = one.by_ghosts(on, ranks, sizes, calls);
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const double error = microseconds(ghosts[i].time) / microseconds(full[i].time) - 1;
        const bool is_beyond = !(100 * std::abs(error) <= wanted.tolerance);
        worst = std::max(worst, std::abs(error));
        beyond += is_beyond ? 1 : 0;
        ++all;
        chorale::say(stdout, "{:<14} {:<24} {:>6} {:>8} {:>12.3f} {:>12.3f} {:>6.1f}%{}\n",
                     chorale::name(one.what), one.name, ranks, sizes[i], microseconds(full[i].time),
                     microseconds(ghosts[i].time), 100 * error, is_beyond ? " !" : "");
        std::fflush(stdout);
      }
    }
  }
  chorale::say(stdout, "{} of {} differ by more than {:.0f}%; the worst by {:.1f}%\n", beyond, all,
               wanted.tolerance, 100 * worst);
  return beyond == 0;
}

}  // namespace

int main(int argc, char** argv) {
  tools::allow_many_files();
  CLI::App app{
      "Times of collectives on a machine in virtual time, on groups of up to 65,536 ranks:\n"
      "sim-scale allreduce --machine hdr-64core --ranks 64,1024 --sizes 8,64K\n"
      "Exit status: 0; 1 if the models differ or a call failed; 2 for a mistake in the options.",
      "sim-scale"};
  options wanted;
  add_options(app, wanted);
  if (const int status = bench::parse(app, argc, argv); status >= 0) return status;
  wanted.command = fmt::format("sim-scale {}", fmt::join(argv + 1, argv + argc, " "));
  std::sort(wanted.ranks.begin(), wanted.ranks.end());
  wanted.ranks.erase(std::unique(wanted.ranks.begin(), wanted.ranks.end()), wanted.ranks.end());
  auto all = selected(wanted);
  if (all.empty()) {
    if (wanted.algorithm.empty())
      chorale::say(
          stderr, "sim-scale: it simulates no algorithm of {}: what is sent would differ from rank to rank\n",
          fmt::join(wanted.operations, ", "));
    else
      chorale::say(stderr, "sim-scale: no algorithm that it can simulate is called '{}'{}{}\n",
                   wanted.algorithm, wanted.operations.empty() ? "" : " among those of ",
                   fmt::join(wanted.operations, ", "));
    return 2;
  }
  try {
    auto on = chorale::simulation::read_machine(wanted.machine);
    if (wanted.ranks_per_host > 0) on.ranks_per_host = wanted.ranks_per_host;
    if (wanted.is_cyclic) on.numbering = chorale::simulation::host_layout::order::cyclic;
    if (wanted.no_near) on.near.reset();
    if (wanted.agreement) {
      std::erase_if(all, [](const candidate& one) { return one.maps_memory; });
      return agree(wanted, all, std::move(on)) ? 0 : 1;
    }
    if (wanted.algorithm.empty()) {
      const bool has_places = on.near && on.ranks_per_host > 1;
      const bool is_one_place = has_places && wanted.ranks.back() <= on.ranks_per_host;
      std::erase_if(all, [=](const candidate& one) {
        return one.goes_by_places ? !has_places : one.maps_memory && !is_one_place;
      });
    }
    if (!wanted.table.empty()) bench::check_tuning(wanted.table);
    make_table(wanted, all, on);
    return 0;
  } catch (const std::exception& e) {
    chorale::say(stderr, "sim-scale: {}\n", e.what());
    return 1;
  }
}
