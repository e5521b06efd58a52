#include "table.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <sys/resource.h>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../bench/tune.hpp"

namespace sim_scale {
namespace {

/// An operation, a number of ranks, a size.
using situation = std::tuple<chorale::operation, int, std::size_t>;
using times = std::map<std::string, double>;
using table = std::map<situation, times>;

struct cost {
  double seconds = 0;
  int ranks = 0;
};

/// By how much a simulation of more ranks takes longer, where it does so most: of alltoalls.
double growth(int from, int to) {
  const double factor = static_cast<double>(to) / from;
  return factor * factor;
}

/// The time of the processor: others may use it, too.
double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void print_winners(const table& all) {
  fmt::print("\nThe fastest, and its time in microseconds:\n");
  for (const auto& [where, by] : all) {
    const auto best = std::min_element(by.begin(), by.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    fmt::print("{:<14} {:>6} ranks {:>8} bytes: {:<24} {:.3f}\n", chorale::name(std::get<0>(where)),
               std::get<1>(where), std::get<2>(where), best->first, best->second);
  }
}

/// By numbers of ranks, as a table is put together.
void write_tuning(const std::string& file, const table& all, bool crowded) {
  std::map<int, std::vector<bench::row>> rows;
  for (const auto& [where, by] : all) {
    const auto& [what, ranks, bytes] = where;
    for (const auto& [name, time] : by) {
      bench::row one;
      one.operation = chorale::name(what);
      one.algorithm = name;
      one.transport = "rc";
      one.bytes = bytes;
      one.median = one.wall = time;
      rows[ranks].push_back(std::move(one));
    }
  }
  for (const auto& [ranks, some] : rows) bench::write_tuning(file, some, ranks, crowded);
}

}  // namespace

void make_table(const options& wanted, const std::vector<candidate>& candidates,
                const chorale::simulation::machine& on) {
  table all;
  fmt::print("{:<14} {:<24} {:>6} {:>8} {:>12} {:>11} {:>8} {:>9} {:>7}\n", "operation", "algorithm", "ranks",
             "bytes", "us", "messages", "seconds", "M ev./s", "MiB");
  for (const auto& one : candidates) {
    const bool has_no_size = one.what == chorale::operation::barrier;
    for (const auto bytes : has_no_size ? std::vector<std::size_t>{0} : wanted.sizes) {
      cost last;
      for (const int ranks : wanted.ranks) {
        if (last.ranks != 0 && last.seconds * growth(last.ranks, ranks) > wanted.seconds) {
          fmt::print("{:<14} {:<24} {:>6} {:>8} left out: it might take {:.0f} s\n", chorale::name(one.what),
                     one.name, ranks, bytes, last.seconds * growth(last.ranks, ranks));
          break;
        }
        const double begin = processor_seconds();
        const auto result = one.by_ghosts(on, ranks, bytes);
        last = {processor_seconds() - begin, ranks};
        rusage used{};
        getrusage(RUSAGE_SELF, &used);
        const double time = static_cast<double>(result.time.count()) / 1e6;
        all[{one.what, ranks, bytes}][one.name] = time;
        fmt::print("{:<14} {:<24} {:>6} {:>8} {:>12.3f} {:>11} {:>8.2f} {:>9.2f} {:>7}\n",
                   chorale::name(one.what), one.name, ranks, bytes, time, result.messages, last.seconds,
                   static_cast<double>(result.events) / last.seconds / 1e6, used.ru_maxrss / 1024);
        std::fflush(stdout);
      }
    }
  }
  print_winners(all);
  if (!wanted.table.empty()) write_tuning(wanted.table, all, on.ranks_per_host > on.host.cores);
}

}  // namespace sim_scale
