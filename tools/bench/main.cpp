// chorale-bench: the latency of the collectives, algorithm by algorithm.
#include <algorithm>
#include <exception>
#include <iterator>

#include <fmt/format.h>

#include "contestants.hpp"
#include "floor.hpp"
#include "session.hpp"
#include "set_ups.hpp"
#include "tune.hpp"

namespace bench {

extern template void enter<chorale::transport::rc>(const selection&, team&, buffers&, contestants&);
extern template void enter<chorale::transport::rc_send_receive>(const selection&, team&, buffers&,
                                                                contestants&);
extern template void enter<chorale::transport::ud>(const selection&, team&, buffers&, contestants&);
extern template void enter<chorale::transport::ud_rdma>(const selection&, team&, buffers&, contestants&);
extern template std::vector<listing> list<chorale::transport::rc>();
extern template std::vector<listing> list<chorale::transport::rc_send_receive>();
extern template std::vector<listing> list<chorale::transport::ud>();
extern template std::vector<listing> list<chorale::transport::ud_rdma>();

bool selected(const selection& wanted, const listing& one) {
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (!wanted.operations.empty() && !has(wanted.operations, one.operation)) return false;
  if (!has(wanted.transports, one.transport)) return false;
  if (wanted.all_algorithms) return true;
  if (wanted.algorithms.empty()) return one.is_default;
  return std::any_of(wanted.algorithms.begin(), wanted.algorithms.end(), [&](const std::string& name) {
    return wanted.whole_names ? one.algorithm == name : one.algorithm.find(name) != std::string::npos;
  });
}

contestants enter_all(const selection& wanted, team& ranks, buffers& memory) {
  contestants all;
  enter<chorale::transport::rc>(wanted, ranks, memory, all);
  enter<chorale::transport::rc_send_receive>(wanted, ranks, memory, all);
  enter<chorale::transport::ud>(wanted, ranks, memory, all);
  enter<chorale::transport::ud_rdma>(wanted, ranks, memory, all);
  enter_hybrid(wanted, ranks, memory, all);
  return all;
}

std::vector<listing> list_all() {
  auto all = list<chorale::transport::rc>();
  for (auto more : {list<chorale::transport::rc_send_receive>(), list<chorale::transport::ud>(),
                    list<chorale::transport::ud_rdma>(), list_hybrid()})
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return all;
}

namespace {

/// The ranks of a communicator of their own, so that agreeing on things does not touch what is measured.
class chorale_team final : public team {
 public:
  explicit chorale_team(chorale::communicator<>& comm) : comm_(comm) {}
  [[nodiscard]] int rank() const override { return comm_.rank(); }
  [[nodiscard]] int size() const override { return comm_.size(); }
  void sum(std::span<double> values) override { comm_.allreduce(values, chorale::sum); }
  double max(double value) override { return comm_.allreduce(value, chorale::max); }

 private:
  chorale::communicator<>& comm_;
};

struct options : common_options {
  selection wanted{.transports = {"rc"}};
  bool fresh = false;
  bool check = false;
  bool floor = false;
  bool list = false;
  std::string table;
  std::string plan;
};

void add_options(CLI::App& app, options& o) {
  add_common_options(app, o);
  app.add_option("--transport", o.wanted.transports,
                 "rc, rc_send_receive, ud, ud_rdma, hybrid, or several with commas between")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"rc", "rc_send_receive", "ud", "ud_rdma", "hybrid"}))
      ->capture_default_str();
  app.add_flag("--algorithms", o.wanted.all_algorithms, "All algorithms, not only the defaults");
  app.add_option("--algorithm", o.wanted.algorithms,
                 "Only algorithms with this in their name; may be repeated")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  app.add_flag("--check", o.check, "Compare results with an independent computation, in calls of their own");
  app.add_flag("--floor", o.floor, "Measure the latency of a flag between ranks 0 and 1 in between");
  auto* fresh = app.add_flag(
      "--fresh", o.fresh,
      "Each algorithm with one buffer, with 8 in turns that stay registered, and with 8 that each call "
      "registers anew (P4 section 5.2: no reuse), sample by sample");
  app.add_option("--table", o.table,
                 "Measure all algorithms and put the result into this table, by which automatic choices are "
                 "made (CHORALE_TUNING)")
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

/// What a tuning table is measured at, unless sizes are given.
std::vector<std::size_t> tuning_sizes() {
  return {8, 256, 2048, 8192, 32768, 131072, 1 << 20};
}

void print_list() {
  fmt::print("{:<14}  {:<15}  {:<28}  {}\n", "operation", "over", "algorithm", "chosen by default");
  for (const auto& one : list_all())
    fmt::print("{:<14}  {:<15}  {:<28}  {}\n", one.operation, one.transport, one.algorithm,
               one.is_default ? "yes" : "");
}

/// What o.plan lists. @returns the exit status.
int run_set_ups(const options& o, const facts& about, team& all, const surroundings& around, bool speaks) {
  const auto result = measure_set_ups(read_set_ups(o.plan), about, all, o.limit, around);
  if (speaks && !o.json.empty()) write_results(o.json, about, all.size(), result);
  const bool wrong = std::any_of(result.begin(), result.end(),
                                 [](const result_of_set_up& r) { return r.measured.wrong.value_or(0) > 0; });
  if (wrong && speaks) fmt::print(stderr, "chorale-bench: results were WRONG\n");
  return wrong ? 1 : 0;
}

int run(options& o) {
  o.wanted.operations = o.operations;
  if (o.limit.back_to_back) o.wanted.timing = timing::back_to_back;
  if (o.fresh) o.wanted.memory = fresh_memory;
  if (!o.table.empty()) {
    o.wanted.all_algorithms = o.wanted.algorithms.empty();
    if (o.limit.sizes.empty()) o.limit.sizes = tuning_sizes();
  }
  if (!o.limit.sizes.empty())
    o.limit.max_bytes = *std::max_element(o.limit.sizes.begin(), o.limit.sizes.end());
  chorale::communicator<> control;
  chorale_team all{control};
  const bool speaks = all.rank() == 0;

  const auto& chosen = control.transport().chosen();
  facts about{{"chorale", CHORALE_TOOLS_VERSION},
              {"ranks", fmt::format("{} ({})", all.size(), control.launched())},
              {"device", fmt::format("{} ({})", chosen.device.name, chosen.why)},
              {"waiting", control.transport().oversubscribed() ? "ranks outnumber cores: yielding"
                                                               : "each rank has a core"}};
  std::optional<flag_floor> floor;
  surroundings around;
  if (o.floor) {
    floor.emplace(control);
    if (floor->available())
      around.floor = [&floor] { return floor->run(200); };
    else
      about.emplace_back("floor", "not measured: " + floor->reason());
  }
  around.check = o.check;
  around.complain = [&](const contestant& one, std::size_t bytes, const std::string& wrong) {
    fmt::print(stderr, "chorale-bench: rank {}: {} {} over {}, {} bytes: {}\n", all.rank(), one.operation,
               one.algorithm, one.transport, bytes, wrong);
  };
  if (o.check && !all.one_host())
    about.emplace_back("check", "barriers are not checked: ranks of several hosts have no common clock");

  if (!o.plan.empty()) return run_set_ups(o, about, all, around, speaks);

  buffers memory{std::max(o.limit.max_bytes, sizeof(float)), all.size(), o.fresh ? places_in_turns : 1};
  const contestants everyone = enter_all(o.wanted, all, memory);
  if (everyone.empty()) {
    if (speaks) fmt::print(stderr, "chorale-bench: no algorithm is selected; --list shows the names\n");
    return 2;
  }
  const field of = [&](const std::string& operation) {
    std::vector<contestant*> found;
    for (const auto& one : everyone) {
      if (one->operation == operation) found.push_back(one.get());
    }
    return found;
  };
  const auto rows = run_session(o, about, all, of, around);
  const int wrong = count_wrong(rows);
  if (!o.table.empty() && speaks && wrong == 0)
    write_tuning(o.table, rows, all.size(), control.transport().oversubscribed());
  if (wrong > 0 && speaks) fmt::print(stderr, "chorale-bench: {} results were WRONG\n", wrong);
  return wrong > 0 ? 1 : 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  CLI::App app{
      "Measures Chorale's collectives. Start it with a launcher: mpirun -n 4 chorale-bench allreduce\n"
      "Exit status: 0; 1 if a result was wrong or a call failed; 2 for a mistake in the options.",
      "chorale-bench"};
  bench::options o;
  bench::add_options(app, o);
  app.set_version_flag("--version", CHORALE_TOOLS_VERSION);
  if (const int status = bench::parse(app, argc, argv); status >= 0) return status;
  if (o.list) {
    if (bench::may_speak()) bench::print_list();
    return 0;
  }
  try {
    return bench::run(o);
  } catch (const std::exception& e) {
    fmt::print(stderr, "chorale-bench: {}\n", e.what());
    return 1;
  }
}
