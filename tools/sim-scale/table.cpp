// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <sys/resource.h>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../lib/core/printable.hpp"
#include "../bench/tune.hpp"
#include "trial.hpp"

namespace sim_scale {
namespace {

/// An operation, a number of ranks, a size.
using situation = std::tuple<chorale::operation, int, std::size_t>;
using times = std::map<std::string, double>;
using table = std::map<situation, times>;

/// The cost of simulations of increasing numbers of ranks: events, or bytes.
class effort {
 public:
  void took(int ranks, double amount) { before_ = std::exchange(last_, {ranks, std::max(amount, 1.0)}); }
  /// Extrapolated to `ranks` by the latest growth; until that is known, by the growth of alltoalls, the
  /// fastest.
  [[nodiscard]] double expected(int ranks) const {
    if (last_.ranks == 0) return 0;
    double power = 2;
    if (before_.ranks != 0)
      power = std::log(last_.amount / before_.amount) / std::log(ratio(last_.ranks, before_.ranks));
    return last_.amount * std::pow(ratio(ranks, last_.ranks), std::clamp(power, 0.0, 2.0));
  }

 private:
  struct simulated {
    int ranks = 0;
    double amount = 0;
  };
  static double ratio(int a, int b) { return static_cast<double>(a) / b; }

  simulated before_;
  simulated last_;
};

/// Processor time, since other programs may use the processor, too.
double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// An algorithm on increasing numbers of ranks, at one size.
struct contender {
  const candidate* is;
  effort events{};
  effort memory{};
  double behind = 1;  ///< ratio of its time to the fastest, on the last simulated number of ranks
};

/// Whether it is left out; prints that.
bool is_left_out(const contender& one, const options& wanted, int ranks, std::size_t bytes) {
  const double events = one.events.expected(ranks) / 1e6;
  // All ranks share the memory of payloads: the operands, results and scratch of one rank.
  const auto payload = 3 * static_cast<double>(room_for(one.is->what, ranks, bytes));
  const double gibibytes = (one.memory.expected(ranks) + payload) / (1 << 30);
  std::string why;
  if (one.behind > wanted.behind)
    why = fmt::format("it took {:.1f} times as long as the fastest", one.behind);
  else if (events > wanted.events || gibibytes > wanted.gibibytes)
    why = fmt::format("it might take {:.0f} million events and {:.1f} GiB", events, gibibytes);
  if (why.empty()) return false;
  chorale::say(stdout, "{:<14} {:<24} {:>6} {:>8} left out: {}\n", chorale::name(one.is->what), one.is->name,
               ranks, bytes, why);
  return true;
}

/// Simulates it, and prints the cost of the simulation. @returns microseconds.
double try_out(contender& one, const chorale::simulation::machine& on, int ranks, std::size_t bytes) {
  (void)take_peak_of_heap();
  const double begin = processor_seconds();
  const auto result = one.is->by_ghosts(on, ranks, {bytes}, 2).front();
  const double seconds = processor_seconds() - begin;
  const auto memory = take_peak_of_heap();
  one.events.took(ranks, static_cast<double>(result.events));
  one.memory.took(ranks, static_cast<double>(memory));
  const double time = static_cast<double>(result.time.count()) / 1e6;
  chorale::say(stdout, "{:<14} {:<24} {:>6} {:>8} {:>12.3f} {:>11} {:>11} {:>8.2f} {:>9.2f} {:>7}\n",
               chorale::name(one.is->what), one.is->name, ranks, bytes, time, result.messages,
               result.adapter_bytes >> 10, seconds, static_cast<double>(result.events) / seconds / 1e6,
               memory >> 20);
  std::fflush(stdout);
  return time;
}

double fastest(const times& by) {
  return std::min_element(by.begin(), by.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->second;
}

/// Whether the winner is certain at a point where not all algorithms were simulated: on the largest group on
/// which the others were simulated, they took at least twice the time of the fastest.
bool is_decided(const table& all, const situation& where, const std::set<std::string>& names) {
  const auto& [what, ranks, bytes] = where;
  for (const auto& name : names) {
    const times* last = nullptr;
    for (const auto& [at, by] : all)
      if (std::get<0>(at) == what && std::get<1>(at) <= ranks && std::get<2>(at) == bytes &&
          by.count(name) > 0)
        last = &by;
    if (last == nullptr) return false;
    if (last != &all.at(where) && last->at(name) < 2 * fastest(*last)) return false;
  }
  return true;
}

/// Removes numbers of ranks at which only the winners for short messages are certain: users of a table apply
/// the winner of its longest size to all longer messages. The longest size of all may be missing.
void drop_short_alone(table& known, const std::vector<std::size_t>& sizes) {
  std::map<std::pair<chorale::operation, int>, std::size_t> counts;
  for (const auto& [where, by] : known) ++counts[{std::get<0>(where), std::get<1>(where)}];
  std::erase_if(known, [&](const auto& point) {
    const auto& [what, ranks, bytes] = point.first;
    return what != chorale::operation::barrier && counts[{what, ranks}] + 1 < sizes.size();
  });
}

/// The points at which the winner is certain.
table decided(const table& all) {
  std::map<chorale::operation, std::set<std::string>> names;
  for (const auto& [where, by] : all)
    for (const auto& [name, time] : by) names[std::get<0>(where)].insert(name);
  table some;
  for (const auto& [where, by] : all)
    if (is_decided(all, where, names[std::get<0>(where)])) some.emplace(where, by);
  return some;
}

void print_winners(const table& all) {
  chorale::say(stdout, "\nThe fastest, and its time in microseconds:\n");
  for (const auto& [where, by] : all) {
    const auto best = std::min_element(by.begin(), by.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    chorale::say(stdout, "{:<14} {:>6} ranks {:>8} bytes: {:<24} {:.3f}\n", chorale::name(std::get<0>(where)),
                 std::get<1>(where), std::get<2>(where), best->first, best->second);
  }
}

/// Writes the table, one number of ranks at a time.
void write_tuning(const options& wanted, const table& all, const chorale::simulation::machine& on) {
  std::map<int, std::vector<bench::row>> rows;
  for (const auto& [where, by] : all) {
    const auto& [what, ranks, bytes] = where;
    for (const auto& [name, time] : by) {
      bench::row one;
      one.operation = chorale::name(what);
      one.algorithm = name;
      one.transport = "rc";
      one.bytes = bytes;
      one.median = one.wall = std::round(time * 1e3) / 1e3;  // rounded to a nanosecond
      rows[ranks].push_back(std::move(one));
    }
  }
  for (const auto& [ranks, some] : rows) {
    const auto hosts = layout_of(ranks, on);
    chorale::model::situation where{.ranks = ranks, .crowded = hosts.largest() > on.host.cores};
    if (on.near) {
      where.places = hosts.hosts();
      where.largest = hosts.largest();
    }
    bench::write_tuning(wanted.table, some, where);
  }
  bench::describe_tuning(
      wanted.table,
      {{"made by", wanted.command},
       {"machine", fmt::format("{}, {} ranks a host", on.name, on.ranks_per_host)},
       {"time",
        "virtual, of one call from the instant at which all ranks begin to the end of the last; not measured "
        "on any machine (docs/simulation.md)"}});
}

}  // namespace

void make_table(const options& wanted, const std::vector<candidate>& candidates,
                const chorale::simulation::machine& on) {
  chorale::say(stdout, "{:<14} {:<24} {:>6} {:>8} {:>12} {:>11} {:>11} {:>8} {:>9} {:>7}\n", "operation",
               "algorithm", "ranks", "bytes", "us", "messages", "adapter KiB", "seconds", "M ev./s", "MiB");
  std::map<chorale::operation, std::vector<contender>> by_operation;
  for (const auto& one : candidates) by_operation[one.what].push_back({&one});
  table known;
  for (const auto& [what, contenders] : by_operation) {
    table all;
    const bool has_no_size = what == chorale::operation::barrier;
    for (const auto bytes : has_no_size ? std::vector<std::size_t>{0} : wanted.sizes) {
      auto still = contenders;
      for (const int ranks : wanted.ranks) {
        std::erase_if(still, [&](const contender& one) { return is_left_out(one, wanted, ranks, bytes); });
        if (still.empty()) break;
        auto& times = all[{what, ranks, bytes}];
        for (auto& one : still) times[one.is->name] = try_out(one, on, ranks, bytes);
        for (auto& one : still) one.behind = times[one.is->name] / fastest(times);
      }
    }
    auto of_this = decided(all);
    drop_short_alone(of_this, wanted.sizes);
    // Written after each operation, in case a later one takes too long.
    if (!wanted.table.empty()) write_tuning(wanted, of_this, on);
    known.insert(of_this.begin(), of_this.end());
  }
  print_winners(known);
}

}  // namespace sim_scale
