// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "../../lib/core/printable.hpp"
#include "../parsing.hpp"

namespace bench {

const std::vector<std::string>& all_operations() {
  static const std::vector<std::string> all{"barrier",        "broadcast", "reduce",  "allreduce",
                                            "allgather",      "alltoall",  "gather",  "scatter",
                                            "reduce_scatter", "scan",      "exchange"};
  return all;
}

int blocks_of(const std::vector<std::string>& operations, int ranks) {
  const auto has_block_of_each = [](const std::string& operation) {
    return operation == "allgather" || operation == "alltoall" || operation == "gather" ||
           operation == "scatter" || operation == "reduce_scatter";
  };
  return operations.empty() || std::any_of(operations.begin(), operations.end(), has_block_of_each) ? ranks
                                                                                                    : 1;
}

void add_limit_options(CLI::App& app, limits& l) {
  const auto bytes = CLI::AsSizeValue(false);
  app.add_option("--sizes", l.sizes, "Only these sizes, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(bytes)
      ->check(CLI::Range(std::size_t{1}, most_bytes));
  app.add_option("--iterations", l.iterations,
                 "Calls at each size; fewer above 8 KiB, and when --budget is spent")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  app.add_option("--samples", l.samples, "Samples into which the calls are divided")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--warmup", l.warmup, "Maximum number of calls before the first sample")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--budget", l.budget, "Seconds for one algorithm at one size")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str();
}

void add_common_options(CLI::App& app, common_options& o) {
  limits& l = o.limit;
  app.add_option("collectives", o.operations, "What to measure (default: all)")
      ->check(CLI::IsMember(all_operations()));
  const auto bytes = CLI::AsSizeValue(false);
  app.add_option("--min-bytes", l.min_bytes,
                 "Smallest message, or block of one rank; sizes double from there")
      ->transform(bytes)
      ->check(CLI::Range(std::size_t{1}, most_bytes))
      ->capture_default_str();
  app.add_option("--max-bytes", l.max_bytes, "Largest message; suffixes as in 64KiB or 4MiB are accepted")
      ->transform(bytes)
      ->check(CLI::Range(std::size_t{1}, most_bytes))
      ->capture_default_str();
  add_limit_options(app, l);
  app.add_flag("--back-to-back", l.back_to_back,
               "Calls with a root: no barrier between them, which measures the rate, not the latency");
  // With a size of two bytes there would be nothing to measure of an operation on floats.
  app.callback([&o] {
    for (const auto& operation : o.operations.empty() ? std::vector<std::string>{"broadcast"} : o.operations)
      if (sizes_of(operation, o.limit).empty())
        throw CLI::ValidationError(
            operation,
            fmt::format("no size is selected: --sizes, or --min-bytes to --max-bytes, must have one "
                        "of {} bytes or more",
                        least_bytes(operation)));
  });
  add_file_options(app, o.outputs);
  app.add_flag("--progress", o.progress, "Show progress even if standard error is no terminal");
}

bool may_speak() {
  for (const char* variable : {"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* rank = std::getenv(variable)) return std::string_view{rank} == "0";
  }
  return true;
}

int parse(CLI::App& app, int argc, char** argv) {
  std::ostringstream out;
  std::ostringstream problems;
  const int status = parsing::parse(app, argc, argv, out, problems);
  if (may_speak()) {
    chorale::say(stdout, "{}", out.str());
    chorale::say(stderr, "{}", problems.str());
  }
  return status;
}

}  // namespace bench
