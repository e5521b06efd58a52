// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <chorale/bench/communicator_team.hpp>

#include "../../lib/core/printable.hpp"
#include "group_team.hpp"
#include "session.hpp"
#include "set_ups.hpp"
#include "tune.hpp"

namespace bench {
namespace {

/// The sizes for a tuning table, unless sizes are given.
std::vector<std::size_t> tuning_sizes() {
  return {8, 256, 2048, 8192, 32768, 131072, 1 << 20};
}

std::vector<row> measure_selected(const program_options& o, const facts& about, team& all,
                                  const contestants& everyone, const sample_hooks& hooks) {
  const field of = [&](const std::string& operation) {
    std::vector<contestant*> found;
    for (const auto& one : everyone) {
      if (one->operation == operation) found.push_back(one.get());
    }
    return found;
  };
  return run_session(o, about, all, of, hooks);
}

/// Performs the measurements of `o`; `all` serves for agreement among the ranks. @returns the exit status.
int measure_all(const program_options& o, const place& here, const place::known& is, const job& in,
                const facts& about, sample_hooks hooks) {
  team& all = in.all;
  const bool speaks = all.rank() == 0;
  hooks.check = o.check;
  hooks.complain = [&](const contestant& one, std::size_t bytes, const std::string& wrong) {
    chorale::say(stderr, "{}: rank {}: {} {} over {}, {} bytes: {}\n", here.program, all.rank(),
                 one.operation, one.algorithm, one.transport, bytes, wrong);
  };
  run_result done{about, all.size(), {}};
  if (o.check && !all.one_host())
    done.about.emplace_back("check", "barriers are not checked: ranks of several hosts have no common clock");
  if (!o.plan.empty()) {
    done.rows = measure_set_ups(read_set_ups(o.plan), done.about, in, o.limit, hooks);
  } else {
    buffers memory{std::max(o.limit.max_bytes, sizeof(float)), blocks_of(o.wanted.operations, all.size()),
                   o.fresh ? places_in_turns : 1};
    const contestants everyone = enter_all(o.wanted, in, memory);
    if (everyone.empty()) {
      if (speaks)
        chorale::say(stderr, "{}: no algorithm is selected; --list shows the names\n", here.program);
      return 2;
    }
    const auto rows = measure_selected(o, done.about, all, everyone, hooks);
    done.rows = rows_of_result(rows);
    if (!o.table.empty() && speaks && count_wrong(done.rows) == 0)
      write_tuning(o.table, rows,
                   {.ranks = all.size(), .crowded = is.crowded, .places = is.places, .largest = is.largest});
  }
  const int wrong = count_wrong(done.rows);
  if (wrong > 0 && speaks) chorale::say(stderr, "{}: {} results were WRONG\n", here.program, wrong);
  // Simulated results are reproducible, and so are their files.
  if (speaks && !here.simulated) {
    done.machine = machine_facts();
    done.run = run_facts();
  }
  if (speaks) write_files(o.outputs, {{"", done}});
  return wrong > 0 ? 1 : 0;
}

}  // namespace

void add_program_options(CLI::App& app, program_options& o) {
  add_common_options(app, o);
  app.add_option("--transport", o.wanted.transports,
                 "rc, rc_send_receive, ud, ud_rdma, hybrid, or several, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"rc", "rc_send_receive", "ud", "ud_rdma", "hybrid"}))
      ->capture_default_str();
  app.add_flag("--algorithms", o.wanted.all_algorithms, "All algorithms, not only the defaults");
  app.add_option("--algorithm", o.wanted.algorithms,
                 "Only algorithms whose name contains this outside its brackets; may be repeated")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  app.add_flag("--check", o.check, "Compare results with an independent computation, in calls of their own");
  auto* fresh = app.add_flag(
      "--fresh", o.fresh,
      "Each algorithm with one buffer, with 8 alternating buffers that stay registered, and with 8 that "
      "each call registers again (P4 section 5.2: no reuse), sample by sample");
  app.add_option("--table", o.table,
                 "Measure all algorithms and put the result into this tuning table, by which algorithms are "
                 "chosen (CHORALE_TUNING)")
      ->type_name("FILE")
      ->excludes(fresh);
  app.add_option("--set-ups", o.plan,
                 "Measure what this JSON file lists and nothing else: set-ups of contestants that each have "
                 "their own settings (tools/papers writes such files)")
      ->type_name("FILE")
      ->excludes(fresh)
      ->excludes("--table");
  app.add_flag("--list", o.list, "List the algorithms and end");
}

void print_list() {
  chorale::say(stdout, "{:<14}  {:<15}  {:<28}  {}\n", "operation", "over", "algorithm", "chosen by default");
  for (const auto& one : list_all())
    chorale::say(stdout, "{:<14}  {:<15}  {:<28}  {}\n", one.operation, one.transport, one.algorithm,
                 one.is_default ? "yes" : "");
}

void settle(program_options& o) {
  o.wanted.operations = o.operations;
  if (o.limit.back_to_back) o.wanted.timing = timing::back_to_back;
  if (o.fresh) o.wanted.memory = fresh_memory;
  if (!o.table.empty()) {
    o.wanted.all_algorithms = o.wanted.algorithms.empty();
    if (o.limit.sizes.empty()) o.limit.sizes = tuning_sizes();
  }
  if (!o.limit.sizes.empty())
    o.limit.max_bytes = *std::max_element(o.limit.sizes.begin(), o.limit.sizes.end());
}

void check_outputs(const program_options& o) {
  check_files(o.outputs);
  if (!o.table.empty()) check_tuning(o.table);
}

int run_rank(const program_options& o, const place& here, any_group group, onlooker* watched_by) {
  const auto say = [&](const place::known& is) {
    facts about = here.about;
    about.emplace_back("ranks", fmt::format("{} ({})", group.size(), group.describe()));
    about.emplace_back("device", is.device);
    if (is.crowded)
      about.emplace_back(crowded_fact);
    else
      about.emplace_back(crowded_fact.first, "each rank has a core");
    if (o.limit.back_to_back) about.emplace_back(back_to_back_fact);
    return about;
  };
  if (here.is) {
    group_team all{group};
    return measure_all(o, here, *here.is, {group, all, watched_by}, say(*here.is), {});
  }
  chorale::communicator<> control{any_group{group}};
  chorale::bench::communicator_team<chorale::communicator<>> all{control};
  if (!here.simulated && !can_write([&] { check_outputs(o); }, here.program, all)) return 1;
  const auto& chosen = control.transport().chosen();
  place::known is{fmt::format("{} ({})", chosen.device.name, chosen.why),
                  control.transport().oversubscribed()};
  if (control.transport().uses_lanes()) {
    is.places = control.hosts().count();
    is.largest = control.hosts().largest();
  }
  facts about = say(is);
  sample_hooks hooks;
  if (here.prepare) here.prepare(control, about, hooks);
  return measure_all(o, here, is, {group, all, watched_by}, about, std::move(hooks));
}

}  // namespace bench
