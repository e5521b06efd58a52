// SPDX-License-Identifier: Apache-2.0
// papers-model: the papers' models with the parameters that they print, as rows for tools/papers.
#include <CLI/CLI.hpp>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../../lib/core/printable.hpp"
#include "../../lib/model/paper_models.hpp"
#include "../bench/output.hpp"
#include "../parsing.hpp"

namespace {

namespace model = chorale::model;

struct options {
  std::vector<int> ranks{16};
  std::vector<std::size_t> bytes{4, 1024, 4096};
  std::vector<int> degrees{1, 3, 7, 15};
  std::size_t block = model::giganet_block;
  model::hockney_costs hockney;
  std::string json;
};

class rows {
 public:
  void add(const std::string& contestant, int ranks, std::size_t bytes, double value,
           const char* unit = "us") {
    all_.push_back({{"contestant", contestant},
                    {"at", {{"ranks", ranks}, {"bytes", bytes}}},
                    {"value", value},
                    {"unit", unit}});
  }
  [[nodiscard]] nlohmann::ordered_json document() const { return {{"rows", all_}}; }

 private:
  nlohmann::ordered_json all_ = nlohmann::ordered_json::array();
};

using compute = std::function<void(const options&, int ranks, std::size_t bytes, rows&)>;

void broadcast(const options& o, int ranks, std::size_t bytes, rows& all) {
  all.add("model", ranks, bytes, model::binomial_broadcast(ranks, bytes, o.block));
}

void allreduce(const options& o, int ranks, std::size_t bytes, rows& all) {
  for (const int k : o.degrees) {
    const auto time = model::degree_k_allreduce(ranks, k, bytes, o.block);
    all.add(fmt::format("model, degree {}, best", k), ranks, bytes, time.best);
    all.add(fmt::format("model, degree {}, worst", k), ranks, bytes, time.worst);
  }
}

void degree(const options&, int ranks, std::size_t bytes, rows& all) {
  all.add("model", ranks, bytes, model::best_degree(ranks, bytes), "degree");
}

void allgather(const options& o, int ranks, std::size_t bytes, rows& all) {
  all.add("model, recursive doubling", ranks, bytes,
          model::recursive_doubling_allgather(ranks, bytes, o.hockney));
  all.add("model, ring", ranks, bytes, model::ring_allgather(ranks, bytes, o.hockney));
}

CLI::Option* list(CLI::Option* option) {
  return option->delimiter(',')->allow_extra_args(false)->capture_default_str();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Times by the papers' models in microseconds, as JSON. Exit status: 0; 1 if a value is out of range "
      "or\n"
      "the file cannot be written; 2 for a mistake in the options.",
      "papers-model"};
  options o;
  compute chosen;
  const auto add = [&](const char* name, const char* what, const compute& how) {
    auto* one = app.add_subcommand(name, what);
    list(one->add_option("--ranks", o.ranks, "Numbers of ranks"));
    list(one->add_option("--bytes", o.bytes, "Bytes of a message, or of a rank's block"));
    one->add_option("--json", o.json, "Write to this file, not to standard output")->type_name("FILE");
    one->callback([&chosen, how] { chosen = how; });
    return one;
  };
  auto* down = add("broadcast", "Binomial broadcast in blocks: P2 section 5.1", broadcast);
  auto* both = add("allreduce", "Degree-k reduce and binomial broadcast: P2 section 5.2", allreduce);
  add("degree", "The degree of the fastest reduce: P2 figure 11", degree);
  auto* gather = add("allgather", "Recursive doubling and ring: P4 section 2.3", allgather);
  for (auto* one : {down, both})
    one->add_option("--block", o.block, "Bytes of a block, the last of which counts it")
        ->capture_default_str();
  list(both->add_option("--degree", o.degrees, "Degrees 2^m - 1"));
  gather->add_option("--startup", o.hockney.startup, "ts: microseconds of a message")->required();
  gather->add_option("--byte", o.hockney.byte, "tw: microseconds of a byte")->required();
  app.require_subcommand(1);
  if (const int status = parsing::parse(app, argc, argv); status >= 0) return status;
  try {
    rows all;
    for (const int ranks : o.ranks)
      for (const auto bytes : o.bytes) chosen(o, ranks, bytes, all);
    if (o.json.empty())
      chorale::say(stdout, "{}\n", all.document().dump(2, ' ', true));
    else
      bench::write_file(o.json, all.document());
    return 0;
  } catch (const std::exception& e) {
    chorale::say(stderr, "papers-model: {}\n", e.what());
    return 1;
  }
}
