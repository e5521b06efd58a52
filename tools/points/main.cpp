// SPDX-License-Identifier: Apache-2.0
// chorale-points: the papers' figures about the layers below collectives.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <chorale/bench/communicator_team.hpp>

#include "../../lib/core/printable.hpp"
#include "../bench/files.hpp"
#include "../bench/options.hpp"
#include "../bench/output.hpp"
#include "../bench/replaced_file.hpp"
#include "calibration/facts.hpp"
#include "figure.hpp"

namespace {

using points::contestants;
using points::job;

struct options {
  bench::limits limit;
  std::string json;
  bool check = false;
  std::vector<int> queue_pairs{1, 2, 4, 8, 16, 32, 64, 128, 256};
  std::vector<int> receivers{1, 3, 7};
  bool polling = false;
};

/// The measurement of one figure, a subcommand.
struct figure {
  const char* name;
  const char* what;
  int ranks;  ///< at least
  std::vector<std::size_t> sizes;
  std::size_t granule;  ///< sizes are a multiple of this
  std::function<contestants(const job&, const options&)> make;
  bool rates = false;     ///< MB/s (1e6 bytes) instead of microseconds
  const char* axis = "";  ///< the meaning of a contestant's count
};

/// Messages in flight when bandwidth is measured.
constexpr int in_flight = 16;

std::vector<figure> figures() {
  return {
      {"multicast",
       "P1 section 2.1.3: a datagram to several ranks by multicast, and one by one",
       2,
       {1},
       1,
       [](const job& in, const options& o) { return points::multicast(in, o.receivers); },
       false,
       "receivers"},
      {"registration", "P4 figure 4(b): registering memory, beside a copy of as many bytes", 1,
       bench::sizes(4096, 1 << 20), 1,
       [](const job& in, const options&) { return points::registration(in); }},
      {"matrix",
       "P4 figure 5(c): matrix multiplication with fresh buffers; bytes are those of a row of doubles",
       1,
       {2048},
       sizeof(double),
       [](const job& in, const options&) { return points::matrix(in); }},
      {"queue-pairs",
       "P5 figure 6(b): ping-pong over 1 to 256 queue pairs in turn",
       2,
       {4},
       1,
       [](const job& in, const options& o) { return points::queue_pairs(in, o.queue_pairs); },
       false,
       "queue_pairs"},
      {"fan-in", "P5 figure 6(c): all other ranks send to rank 0, with copies and without", 2,
       bench::sizes(1024, 1 << 18), 1, [](const job& in, const options&) { return points::fan_in(in); }},
      {"alltoall", "P5 figure 7(a): direct alltoall by RDMA without copies, and by send/receive", 2,
       bench::sizes(64, 1 << 17), 1, [](const job& in, const options&) { return points::alltoall(in); }},
      {"latency", "P5 figure 8(a): latency of RC and UD", 2, bench::sizes(4, 1 << 18), 1,
       [](const job& in, const options&) { return points::point_to_point(in, 1); }},
      {"bandwidth", "P5 figure 8(b): bandwidth of RC and UD", 2, bench::sizes(4, 1 << 18), 1,
       [](const job& in, const options&) { return points::point_to_point(in, in_flight); }, true},
      {"read", "P5 figure 10(a): latency of RDMA read and of its emulation over UD", 2,
       bench::sizes(4, 1 << 16), 1,
       [](const job& in, const options& o) { return points::reads(in, o.polling, 1); }},
      {"read-bandwidth", "P5 figure 10(b): their bandwidth", 2, bench::sizes(4, 1 << 16), 1,
       [](const job& in, const options& o) { return points::reads(in, o.polling, in_flight); }, true},
      {"write", "P5 figure 11(a): latency of RDMA write and of its emulation over UD", 2,
       bench::sizes(4, 1 << 16), 1, [](const job& in, const options&) { return points::writes(in, 1); }},
      {"write-bandwidth", "P5 figure 11(b): their bandwidth", 2, bench::sizes(4, 1 << 16), 1,
       [](const job& in, const options&) { return points::writes(in, in_flight); }, true},
  };
}

void add_json_option(CLI::App& app, options& o) {
  app.add_option("--json", o.json, "Also write the result to this file")->type_name("FILE");
}

void add_options(CLI::App& app, const figure& one, options& o) {
  bench::add_limit_options(app, o.limit);
  app.add_flag("--check", o.check, "Compare what arrives with what was sent, in calls of their own");
  add_json_option(app, o);
  const std::string name = one.name;
  if (name == "queue-pairs")
    app.add_option("--counts", o.queue_pairs, "Numbers of queue pairs, separated by commas")
        ->delimiter(',')
        ->check(CLI::Range(1, 4096));
  if (name == "multicast")
    app.add_option("--receivers", o.receivers,
                   "Numbers of receivers, separated by commas; those that need more ranks are left out")
        ->delimiter(',')
        ->check(CLI::Range(1, 128));
  if (name == "read" || name == "read-bandwidth")
    app.add_flag("--polling", o.polling,
                 "Only emulated reads, answered by a thread that polls instead of one that an event wakes");
}

void print_head(const bench::facts& about, const figure& one) {
  for (const auto& [name, value] : about) chorale::say(stdout, "# {}: {}\n", name, value);
  chorale::say(stdout, "# {}\n{:>9} {:>11} {:<28} {:>10} {:>10} {:>10} {:>6} {:>10} {:>8}\n", one.what,
               "bytes", one.axis, "", "median", "p10", "p90", "", "samples", "check");
}

/// Prints a row. @returns the row in the format of tools/papers.
nlohmann::ordered_json put(const figure& one, const points::entered& who, const bench::row& row, int ranks,
                           bool speaks) {
  const char* const unit = one.rates ? "MB/s" : "us";
  const auto shown = [&](double microseconds) {
    return !one.rates ? microseconds : microseconds > 0 ? static_cast<double>(row.bytes) / microseconds : 0;
  };
  if (speaks) {
    chorale::say(stdout, "{:>9} {:>11} {:<28} {:>10.3f} {:>10.3f} {:>10.3f} {:>6} {:>10} {:>8}\n", row.bytes,
                 who.count > 0 ? fmt::format("{}", who.count) : "", who.name, shown(row.median),
                 shown(one.rates ? row.p90 : row.p10), shown(one.rates ? row.p10 : row.p90), unit,
                 fmt::format("{}x{}", row.samples, row.calls),
                 !row.wrong        ? ""
                 : *row.wrong == 0 ? "right"
                                   : "WRONG");
    std::fflush(stdout);
  }
  nlohmann::ordered_json at{{"ranks", ranks}, {"bytes", row.bytes}};
  if (who.count > 0) at[one.axis] = who.count;
  nlohmann::ordered_json told{
      {"contestant", who.name}, {"at", at}, {"value", shown(row.median)}, {"unit", unit}};
  if (row.wrong) told["wrong"] = *row.wrong;
  return told;
}

/// Lengths of requests have 32 bits, one of which wires need; a header of datagrams is added.
constexpr std::size_t most_bytes = std::size_t{1} << 30;

int run(const figure& one, options& o) {
  points::communicator control;
  chorale::bench::communicator_team<points::communicator> all{control};
  const bool speaks = all.rank() == 0;
  if (all.size() < one.ranks) {
    if (speaks)
      chorale::say(stderr, "chorale-points {}: start {} ranks or more: mpirun -n {} ...\n", one.name,
                   one.ranks, one.ranks);
    return 2;
  }
  const auto sizes = o.limit.sizes.empty() ? one.sizes : o.limit.sizes;
  for (const std::size_t bytes : sizes) {
    if (bytes > most_bytes) {
      if (speaks)
        chorale::say(stderr,
                     "chorale-points {}: --sizes takes up to {} bytes, not {}: a request has no more\n",
                     one.name, most_bytes, bytes);
      return 2;
    }
    if (bytes % (one.granule * (one.granule > 1 ? static_cast<std::size_t>(all.size()) : 1)) == 0) continue;
    if (speaks)
      chorale::say(stderr,
                   "chorale-points {}: --sizes takes numbers that {} ranks can share in whole elements of {} "
                   "bytes, not {}\n",
                   one.name, all.size(), one.granule, bytes);
    return 2;
  }

  if (!bench::can_write([&] { bench::check_files({.json = o.json}); }, "chorale-points", all)) return 1;

  const job in{control, all, *std::max_element(sizes.begin(), sizes.end())};
  const auto made = one.make(in, o);
  std::vector<bench::contestant*> field;
  for (const auto& each : made) field.push_back(each.who.get());

  const auto& chosen = control.transport().chosen();
  const bench::facts about{
      {"chorale", CHORALE_TOOLS_VERSION},
      {"ranks", fmt::format("{} ({})", all.size(), control.launcher())},
      {"device", fmt::format("{} ({})", chosen.device.name, chosen.why)},
      {"waiting",
       control.transport().oversubscribed() ? "ranks outnumber cores: yielding" : "each rank has a core"}};
  bench::sample_hooks hooks;
  hooks.check = o.check;
  hooks.complain = [&](const bench::contestant& who, std::size_t bytes, const std::string& wrong) {
    chorale::say(stderr, "chorale-points: rank {}: {} {} over {}, {} bytes: {}\n", all.rank(), who.operation,
                 who.algorithm, who.transport, bytes, wrong);
  };
  if (speaks) print_head(about, one);
  auto document = nlohmann::ordered_json::object();
  for (const auto& [name, value] : about) document["about"][name] = value;
  document["rows"] = nlohmann::ordered_json::array();
  int wrong = 0;
  for (const std::size_t bytes : sizes) {
    const auto rows = bench::measure(field, bytes, all, o.limit, hooks);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      document["rows"].push_back(put(one, made[i], rows[i], all.size(), speaks));
      wrong += rows[i].wrong.value_or(0);
    }
  }
  if (speaks && !o.json.empty()) bench::write_file(o.json, document);
  if (wrong > 0 && speaks) chorale::say(stderr, "chorale-points: {} results were WRONG\n", wrong);
  return wrong == 0 ? 0 : 1;
}

/// Measures the host and the device of ranks 0 and 1, and writes them as a machine to simulate.
int calibrate(const std::string& file) {
  points::communicator control;
  chorale::bench::communicator_team<points::communicator> all{control};
  const bool speaks = all.rank() == 0;
  // Further ranks would only take cores from the two that measure.
  if (all.size() != 2) {
    if (speaks)
      chorale::say(stderr, "chorale-points calibrate: start 2 ranks, not {}: mpirun -n 2 ...\n", all.size());
    return 2;
  }
  if (!bench::can_write([&] { bench::check_files({.json = file}); }, "chorale-points calibrate", all))
    return 1;
  namespace calibration = points::calibration;
  const job in{control, all, 0};
  const auto host = calibration::measure_host(in);
  const auto adapter = calibration::measure_adapter(in, host);
  const auto library = calibration::measure_library(in, adapter, host);
  const auto& chosen = control.transport().chosen();
  if (speaks)
    calibration::write_machine(
        file, fmt::format("{} of a host with {} cores, as it was measured", chosen.device.name, host.cores),
        host, adapter, library);
  control.barrier();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Measures what the papers' figures show besides collectives. Start it with a launcher:\n"
      "mpirun -n 2 chorale-points queue-pairs\n"
      "Exit status: 0; 1 if a result was wrong or a call failed; 2 for a mistake in the options.",
      "chorale-points"};
  app.set_version_flag("--version", CHORALE_TOOLS_VERSION);
  app.require_subcommand(1);
  options o;
  const auto all = figures();
  for (const auto& one : all) add_options(*app.add_subcommand(one.name, one.what), one, o);
  std::string machine;
  auto* const calibration = app.add_subcommand(
      "calibrate",
      "Measure the costs of host and device, and write a machine for chorale-sim (docs/machines.md)");
  calibration->add_option("--machine", machine, "The file to write")->type_name("FILE")->required();
  std::vector<int> sizes{2, 4, 8, 16, 32, 64};
  auto* const resources = app.add_subcommand(
      "resources",
      "The resources of a rank of each transport: queue pairs, receives, memory, descriptors, measured after "
      "alltoalls and by formula; without a launcher, threads are the ranks (docs/resources.md)");
  resources->add_option("--ranks", sizes, "Group sizes to measure; under a launcher, that of the job")
      ->delimiter(',')
      ->check(CLI::Range(1, 256));
  add_json_option(*resources, o);
  if (const int status = bench::parse(app, argc, argv); status >= 0) return status;
  try {
    if (*resources) {
      if (bench::may_speak()) bench::check_files({.json = o.json});
      points::show_resources(sizes, o.json);
      return 0;
    }
    if (*calibration) return calibrate(machine);
    for (const auto& one : all)
      if (app.got_subcommand(one.name)) return run(one, o);
  } catch (const std::exception& e) {
    chorale::say(stderr, "chorale-points {}: {}\n", app.get_subcommands().front()->get_name(), e.what());
    return 1;
  }
  return 2;
}
