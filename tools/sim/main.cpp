// SPDX-License-Identifier: Apache-2.0
// chorale-sim: the table of chorale-bench for a simulated machine.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>

#include <fmt/format.h>

#include <chorale/core/config.hpp>
#include <chorale/simulation/run.hpp>

#include "../../lib/core/printable.hpp"
#include "../bench/program.hpp"
#include "../open_files.hpp"
#include "forms.hpp"
#include "progress_line.hpp"
#include "show.hpp"
#include "wishes.hpp"

namespace sim = chorale::simulation;

namespace {

/// Up to this number, ranks agree through an additional communicator, as in chorale-bench. With more,
/// simulating it would take as long as the measurement.
constexpr int most_with_a_communicator_more = 128;

struct options : bench::program_options {
  std::string machine;
  int ranks = 0;
  int ranks_per_host = 0;  ///< 0: as the machine specifies
  bool is_cyclic = false;  ///< consecutive ranks are on different hosts
  std::uint64_t seed = 1;
  bool links = false;
  seeing::wishes wishes;
};

void add_options(CLI::App& app, options& o) {
  // Virtual time is reproducible: more calls would only show how calls follow each other.
  o.limit.iterations = 4;
  o.limit.samples = 1;
  o.limit.warmup = 2;
  add_program_options(app, o);
  app.add_option("--machine", o.machine,
                 "One that comes with the library, such as hdr-64core, or a file (docs/machines.md)")
      ->type_name("NAME|FILE");
  app.add_option("--ranks", o.ranks,
                 "Number of ranks, on as few of the machine's hosts as have room for them")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--ranks-per-host", o.ranks_per_host, "Ranks on each host, instead of the machine's number")
      ->check(CLI::Range(1, 1 << 16));
  app.add_flag("--cyclic", o.is_cyclic, "Consecutive ranks are on different hosts, in turn")
      // Tables do not tell numberings apart.
      ->excludes("--table");
  app.add_option("--seed", o.seed, "Seed of all random numbers")->capture_default_str();
  app.add_flag("--links", o.links, "Also show what went over each link in the whole run");
  seeing::add_options(app, o.wishes);
}

/// Reads the machine. @returns the error in the options; empty if there is none.
std::string read_machine(const options& o, sim::machine& into) {
  if (o.machine.empty()) return "--machine is required: it names what is simulated";
  if (o.ranks == 0) return "--ranks is required";
  try {
    into = sim::read_machine(o.machine);
    if (o.ranks_per_host > 0) into.ranks_per_host = o.ranks_per_host;
    if (o.is_cyclic) into.numbering = sim::host_layout::order::cyclic;
    validate(into);
  } catch (const std::exception& e) {
    return e.what();
  }
  const long long room = static_cast<long long>(into.hosts) * into.ranks_per_host;
  if (o.ranks > room)
    return fmt::format("--ranks {}: {} has {} hosts with {} ranks each", o.ranks, into.name, into.hosts,
                       into.ranks_per_host);
  // Only measured transports need it: joining uses datagrams on every simulated machine.
  for (const std::string& transport : o.wanted.transports)
    if (!into.adapter.datagrams && !transport.starts_with("rc"))
      return fmt::format("--transport {}: the adapters of {} have no datagrams, which it needs", transport,
                         into.name);
  return seeing::find_fault(o.wishes, o.ranks);
}

/// What a communicator over rc would say.
bench::place::known known_beforehand(const options& o, const sim::machine& on, bool crowded) {
  bench::place::known is{.device = "sim0 (the adapter of its host)", .crowded = crowded};
  const sim::host_layout where = layout_of(o.ranks, on);
  const int largest = where.largest();
  if (!on.near || largest == 1 || chorale::config::from_environment().near == chorale::near_policy::off)
    return is;
  if (o.ranks == largest) {
    is.device = "soft0 (all ranks are on one host)";
  } else {
    is.places = where.hosts();
    is.largest = largest;
  }
  return is;
}

int run(const options& o, const sim::machine& on) {
  bench::place here{
      "chorale-sim",
      {{"chorale", CHORALE_TOOLS_VERSION},
       {"time", "virtual: hosts, adapters and network are simulated"},
       {"machine", on.name},
       {"hosts", fmt::format("{} of {}, with {} {} each{}", layout_of(o.ranks, on).hosts(), on.hosts,
                             on.ranks_per_host, on.ranks_per_host == 1 ? "rank" : "ranks",
                             o.is_cyclic ? ", in turn" : "")},
       {"seed", fmt::format("{}", o.seed)}},
      {},
      {},
      true};
  check_outputs(o);
  const bool crowded = layout_of(o.ranks, on).largest() > on.host.cores;
  if (o.ranks > most_with_a_communicator_more) here.is = known_beforehand(o, on, crowded);
  if (crowded)
    here.about.emplace_back("cores", fmt::format("{} of a host, which its ranks share", on.host.cores));
  int status = 0;
  sim::run_options how;
  how.seed = o.seed;
  std::optional<sim::recorder> notes;
  if (o.wishes.any()) how.record = &notes.emplace(o.wishes.records);
  seeing::progress_line progress{o.progress};
  if (progress.is_on())
    how.progress = [&](sim::instant now, std::uint64_t events) { progress.step(now, events); };
  const auto all = sim::run(
      o.ranks, on,
      [&](sim::group& group) {
        seeing::phases_of_bench phases;
        status = std::max(status, run_rank(o, here, bench::any_group{group}, notes ? &phases : nullptr));
      },
      how);
  progress.finish(sim::instant{all.elapsed}, all.events);
  if (o.links) seeing::print_links(all);
  if (notes && status != 2 && !seeing::show(o.wishes, *notes, all.elapsed, o.ranks, here.about))
    status = std::max(status, 1);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  // Only the simulated device exists: ignore a choice made for real devices, before the options read their
  // defaults from the environment.
  unsetenv("CHORALE_DEVICE");
  tools::allow_many_files();
  CLI::App app{
      "Measures Chorale's collectives in virtual time, on a simulated machine:\n"
      "chorale-sim allreduce --machine hdr-64core --ranks 64 --algorithms --sizes 8,64K\n"
      "Exit status: 0; 1 if a result was wrong or a call failed; 2 for a mistake in the options.",
      "chorale-sim"};
  options o;
  add_options(app, o);
  app.set_version_flag("--version", CHORALE_TOOLS_VERSION);
  if (const int status = bench::parse(app, argc, argv); status >= 0) return status;
  if (o.list) {
    bench::print_list();
    return 0;
  }
  sim::machine on;
  if (const auto wrong = read_machine(o, on); !wrong.empty()) {
    chorale::say(stderr, "chorale-sim: {}\n", wrong);
    return 2;
  }
  try {
    bench::settle(o);
    return run(o, on);
  } catch (const std::exception& e) {
    chorale::say(stderr, "chorale-sim: {}\n", e.what());
    return 1;
  }
}
