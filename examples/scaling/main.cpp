// SPDX-License-Identifier: Apache-2.0
// How examples scale: each solves one problem on increasing numbers of ranks, in virtual time. Prints CSV.
//
//   scaling [--machine NAME] [--ranks 1,2,4] [EXAMPLE...]    ranks of a machine, one on each host
//   scaling --rates                                          what a unit of work takes here, in nanoseconds
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <chorale/bootstrap/in_process.hpp>
#include <chorale/chorale.hpp>
#include <chorale/simulation/run.hpp>

#include "scaling.hpp"

namespace sim = chorale::simulation;

namespace {

using scaling::problem;

const std::array problems{
#ifdef CHORALE_EXAMPLES_HAVE_BLAS
    &scaling::matrix_multiply,
#endif
    &scaling::conjugate_gradient,
    &scaling::jacobi,
    &scaling::heat,
    &scaling::k_means,
    &scaling::sample_sort,
    &scaling::sgd,
    &scaling::parameter_server};

/// Virtual seconds of the slowest rank. Measures the second of two solutions, when connections exist, as in a
/// longer run.
double virtual_seconds(const problem& what, const sim::machine& on, int ranks) {
  std::vector<double> times(static_cast<std::size_t>(ranks));
  // A waiting rank polls at least this often, so that its own work resumes in time.
  sim::run_options options;
  options.longest_gap = std::chrono::nanoseconds{200};
  sim::run(
      ranks, on,
      [&](sim::group& group) {
        chorale::communicator<> comm{group, chorale::config::from_environment()};
        const scaling::work worked = [&](double units) {
          sim::compute(std::chrono::duration_cast<sim::duration>(
              std::chrono::duration<double, std::nano>{units * what.nanoseconds}));
        };
        what.solve(comm, worked);
        comm.barrier();
        const sim::instant begin = sim::now();
        what.solve(comm, worked);
        times[static_cast<std::size_t>(comm.rank())] =
            std::chrono::duration<double>(sim::now() - begin).count();
      },
      options);
  return *std::max_element(times.begin(), times.end());
}

/// Processor time of a unit on this machine: the minimum of five measurements.
double nanoseconds_of_a_unit(const problem& what) {
  double least = 0;
  for (int i = 0; i < 5; ++i) {
    double units = 0;
    std::clock_t taken = 0;
    chorale::bootstrap::run_in_process(1, [&](auto& group) {
      chorale::communicator<> comm{group};
      const std::clock_t begin = std::clock();
      what.solve(comm, [&](double more) { units += more; });
      taken = std::clock() - begin;
    });
    const double nanoseconds = 1e9 * static_cast<double>(taken) / CLOCKS_PER_SEC / units;
    least = i == 0 ? nanoseconds : std::min(least, nanoseconds);
  }
  return least;
}

std::vector<int> numbers(const std::string& list) {
  std::vector<int> all;
  std::istringstream words{list};
  for (std::string word; std::getline(words, word, ',');) {
    all.push_back(std::atoi(word.c_str()));
    if (all.back() < 1) throw std::invalid_argument("'" + word + "' is no number of ranks");
  }
  if (all.empty()) throw std::invalid_argument("no number of ranks is given");
  return all;
}

}  // namespace

int main(int count, char** words) try {
  std::string machine = "hdr-64core";
  std::vector<int> ranks{1, 2, 4, 8, 16, 32, 64};
  std::vector<const problem*> chosen;
  bool rates = false;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto value = [&] {
      if (i + 1 == count) throw std::invalid_argument(word + " wants a value");
      return std::string{words[++i]};
    };
    if (word == "--rates") {
      rates = true;
    } else if (word == "--machine") {
      machine = value();
    } else if (word == "--ranks") {
      ranks = numbers(value());
    } else {
      const auto found = std::find_if(problems.begin(), problems.end(),
                                      [&](const problem* one) { return word == one->name; });
      if (found == problems.end()) throw std::invalid_argument("there is no example '" + word + "'");
      chosen.push_back(*found);
    }
  }
  if (chosen.empty()) chosen.assign(problems.begin(), problems.end());
  if (rates) {
    fmt::print("example,unit,nanoseconds\n");
    for (const problem* one : chosen)
      fmt::print("{},{},{:.2f}\n", one->name, one->unit, nanoseconds_of_a_unit(*one));
    return 0;
  }
  sim::machine cluster = sim::read_machine(machine);
  cluster.ranks_per_host = 1;
  fmt::print("example,ranks,microseconds\n");
  for (const problem* one : chosen)
    for (const int n : ranks)
      fmt::print("{},{},{:.1f}\n", one->name, n, 1e6 * virtual_seconds(*one, cluster, n));
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "scaling: {}\n", e.what());
  return 1;
}
