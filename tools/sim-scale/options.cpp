// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>

#include "../bench/options.hpp"

namespace sim_scale {

void add_options(CLI::App& app, options& o) {
  app.add_option("collectives", o.operations, "What to simulate (default: all)")
      ->check(CLI::IsMember(bench::all_operations()));
  app.add_option("--machine", o.machine, "One that comes with the library, or a file (docs/machines.md)")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  app.add_option("--ranks-per-host", o.ranks_per_host, "Ranks on each host, instead of the machine's number")
      ->check(CLI::Range(1, 1 << 16));
  auto* const cyclic =
      app.add_flag("--cyclic", o.is_cyclic, "Consecutive ranks are on different hosts, in turn");
  app.add_flag("--no-near", o.no_near, "Ranks of a host also use its adapter");
  app.add_option("--algorithm", o.algorithm, "Only this algorithm")->type_name("NAME");
  app.add_option("--ranks", o.ranks, "Numbers of ranks, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  app.add_option("--sizes", o.sizes, "Bytes of a message, or of each block: multiples of 4")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(CLI::AsSizeValue(false))
      ->check([](const std::string& text) {
        const auto bytes = std::stoull(text);
        return bytes > 0 && bytes % 4 == 0 ? std::string{} : text + " is no multiple of 4";
      })
      ->capture_default_str();
  app.add_option(
         "--events", o.events,
         "Leave out simulations that are expected, from fewer ranks, to take more millions of events; a "
         "million takes about a second")
      ->check(CLI::Range(0.001, 1e6))
      ->capture_default_str();
  app.add_option(
         "--behind", o.behind,
         "Likewise, algorithms that took more than so many times the time of the fastest on fewer ranks")
      ->check(CLI::Range(2.0, 1e9))
      ->type_name("TIMES");
  app.add_option("--gibibytes", o.gibibytes, "Likewise, simulations that are expected to take more memory")
      ->check(CLI::Range(0.001, 1e6))
      ->capture_default_str();
  auto* const table =
      app.add_option("--table", o.table, "Also write the result as a table to choose by (CHORALE_TUNING)")
          ->type_name("FILE")
          // Tables do not tell numberings apart.
          ->excludes(cyclic);
  auto* const agreement = app.add_flag("--agreement", o.agreement,
                                       "Compare with the full stack, and fail where they differ by more than")
                              ->excludes(table);
  app.add_option("--tolerance", o.tolerance, "percent")
      ->check(CLI::Range(0.0, 1000.0))
      ->needs(agreement)
      ->capture_default_str();
}

std::vector<candidate> selected(const options& o) {
  auto all = candidates();
  std::erase_if(all, [&](const candidate& one) {
    const bool is_wanted = o.operations.empty() || std::find(o.operations.begin(), o.operations.end(),
                                                             chorale::name(one.what)) != o.operations.end();
    return !is_wanted || (!o.algorithm.empty() && o.algorithm != one.name);
  });
  return all;
}

}  // namespace sim_scale
