// SPDX-License-Identifier: Apache-2.0
// Measures and checks algorithms side by side: a benchmark of your own algorithm in a few lines.
#pragma once

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <chorale/bench/command_line.hpp>
#include <chorale/bench/communicator_team.hpp>
#include <chorale/bench/measure.hpp>
#include <chorale/bench/trials.hpp>
#include <chorale/bench/trials_of_blocks.hpp>
#include <chorale/communicator.hpp>
#include <chorale/core/type_name.hpp>
#include <chorale/transport/rc.hpp>

namespace chorale::bench {

namespace detail {

template <class Policy>
concept algorithm = requires { Policy::implements; };

/// The first of `Policies` that is not an algorithm, or `transport::rc`.
template <class... Policies>
struct transport_among : std::type_identity<transport::rc> {};
template <class First, class... Rest>
struct transport_among<First, Rest...>
    : std::conditional_t<algorithm<First>, transport_among<Rest...>, std::type_identity<First>> {};

/// An algorithm with its own communicator.
template <class Transport, class Algorithm>
class entry final : public contestant {
 public:
  static constexpr auto what = Algorithm::implements;

  entry(const std::string& shown_name, buffers& memory)
      : contestant(chorale::name(what), shown_name, Transport::name), memory_(memory) {}

  void meet() override { comm_.barrier(); }
  double run(std::size_t bytes, int calls) override {
    const auto call = [&] { trial<what>::call(comm_, memory_, bytes); };
    if constexpr (trial<what>::rooted)
      return bench::time_apart(calls, call, [this] { comm_.barrier(); });
    else
      return bench::time_together(calls, call);
  }
  std::string check(std::size_t bytes, team& all) override {
    return trial<what>::check(comm_, memory_, bytes, all);
  }
  bool is_trying() override {
    if constexpr (requires { Algorithm::is_trying(comm_.transport()); })
      return Algorithm::is_trying(comm_.transport());
    else
      return false;
  }

 private:
  communicator<Transport, Algorithm> comm_;
  buffers& memory_;
};

/// Prints the rows of one size, each with its ratio to the fastest.
inline void print(const std::vector<row>& rows) {
  double best = rows.front().median;
  for (const auto& r : rows) best = std::min(best, r.median);
  for (const auto& r : rows) {
    fmt::print("{:>9}  {:<32} {:>10.3f} {:>10.3f} {:>10.3f} {:>7.2f}  {}\n", r.bytes, r.algorithm, r.median,
               r.p10, r.p90, best > 0 ? r.median / best : 1.0,
               !r.wrong        ? "not checked"
               : *r.wrong == 0 ? "right"
                               : fmt::format("WRONG on {} ranks", *r.wrong));
  }
  std::fflush(stdout);
}

/// The name of a type without the leading `::` of a type outside namespaces, unless `all` has the shortened
/// name too.
inline std::string shown_name(std::string name, const std::vector<std::string>& all) {
  if (name.starts_with("::") && std::find(all.begin(), all.end(), name.substr(2)) == all.end())
    name.erase(0, 2);
  return name;
}

template <class Transport, class Algorithm, class List>
void enter_if_algorithm(const std::vector<std::string>& names, buffers& memory, List& all) {
  if constexpr (algorithm<Algorithm>)
    all.push_back(std::make_unique<entry<Transport, Algorithm>>(
        detail::shown_name(chorale::type_name<Algorithm>(), names), memory));
}

/// @throws std::invalid_argument if a size given on the command line cannot be measured exactly.
inline void require_measurable(const std::string& operation, const limits& limit) {
  if (operation == "barrier") return;
  for (const std::size_t bytes : limit.sizes) {
    limits one;
    one.sizes = {bytes};
    if (bench::sizes_of(operation, one) != one.sizes)
      throw std::invalid_argument(
          fmt::format("--sizes: {} is measured with floats, of {} bytes each: {} is no multiple of that",
                      operation, sizeof(float), bytes));
  }
}

}  // namespace detail

/// Measures algorithms for operation `What` and checks their results. Collective over all ranks of the job.
///
/// @tparam Policies algorithms and at most one transport (default `transport::rc`), in any order.
/// @param limit     sizes in bytes (of one message, or of one block for block operations; whole floats),
/// samples, and seconds for each algorithm and size.
/// @param check     whether to compare results with an independent computation first; sums are exact. Each
/// rank reports the errors that it finds on standard error.
/// @param show      called with the rows of one size, on every rank.
/// @returns the rows: microseconds per call, the same on every rank. Algorithms alternate sample by sample,
/// so that noise affects all of them alike.
/// @throws error what the calls throw. Thread safety: one thread of a process at a time.
template <operation What, class... Policies, class Show>
std::vector<row> measure_algorithms(const limits& limit, bool check, Show&& show) {
  static_assert(
      requires { trial<What>::rooted; }, "chorale::bench does not know how to measure this operation");
  static_assert((detail::algorithm<Policies> || ...), "chorale::bench: name at least one algorithm");
  static_assert(([] {
                  if constexpr (detail::algorithm<Policies>)
                    return Policies::implements == What;
                  else
                    return true;
                }() &&
                 ...),
                "chorale::bench: each algorithm that is measured implements the operation that is named");
  using transport = typename detail::transport_among<Policies...>::type;

  communicator<transport> control;
  communicator_team<communicator<transport>> all{control};
  const auto sizes = sizes_of(chorale::name(What), limit);
  const std::size_t largest = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
  buffers memory{std::max(largest, sizeof(float)), all.size()};
  std::vector<std::unique_ptr<contestant>> made;
  const std::vector<std::string> names{chorale::type_name<Policies>()...};
  (detail::enter_if_algorithm<transport, Policies>(names, memory, made), ...);
  std::vector<contestant*> field;
  for (const auto& one : made) field.push_back(one.get());

  sample_hooks hooks;
  hooks.check = check;
  hooks.complain = [&](const contestant& one, std::size_t bytes, const std::string& wrong) {
    fmt::print(stderr, "{} {} of {} bytes over {}, rank {}: {}\n", one.operation, one.algorithm, bytes,
               one.transport, all.rank(), wrong);
  };
  std::vector<row> result;
  for (const auto bytes : sizes) {
    const auto rows = bench::measure(field, bytes, all, limit, hooks);
    show(rows);
    result.insert(result.end(), rows.begin(), rows.end());
  }
  return result;
}

/// A whole benchmark program: the `main` of a file that defines an algorithm and compares it with others.
///
///     int main(int argc, char** argv) {
///       using namespace chorale;
///       return bench::compare<operation::allreduce, mine::ring, allreduce::ring>(argc, argv);
///     }
///
/// Start it with a launcher. Rank 0 prints one line for each size and algorithm: microseconds per call
/// (median and percentiles over the samples, each averaged over the ranks), the ratio to the fastest, and
/// whether the result was correct. `--help` lists the options.
/// @tparam Policies as for `measure_algorithms`.
/// @returns 0; 1 if a result was wrong or a call failed; 2 if the options are invalid.
template <operation What, class... Policies>
int compare(int argc, char** argv) {
  using transport = typename detail::transport_among<Policies...>::type;
  int rank = -1;
  try {
    communicator<transport> comm;
    rank = comm.rank();
    command_line given;
    try {
      given = parse(argc, argv);
      detail::require_measurable(chorale::name(What), given.limit);
    } catch (const std::invalid_argument& mistake) {
      if (rank == 0)
        fmt::print(stderr, "{}: {}\n", chorale::detail::printable_text(argv[0]),
                   chorale::detail::printable_text(mistake.what()));
      comm.barrier();  // a launcher ends all ranks once one exits with an error, before rank 0 has printed
      return 2;
    }
    if (given.help) {
      if (rank == 0)
        fmt::print("Measures {} by several algorithms.\n{}", chorale::name(What), command_line_help);
      return 0;
    }
    if (rank == 0)
      fmt::print(
          "# {} on {} ranks over {}, device {}: microseconds of one call\n{:>9}  {:<32} {:>10} {:>10} {:>10} "
          "{:>7}  {}\n",
          chorale::name(What), comm.size(), transport::name, comm.transport().chosen().device.name, "bytes",
          "algorithm", "median", "p10", "p90", "ratio", "result");
    const auto rows = bench::measure_algorithms<What, Policies...>(given.limit, given.check,
                                                                   [&](const std::vector<row>& some) {
                                                                     if (rank == 0) detail::print(some);
                                                                   });
    return std::any_of(rows.begin(), rows.end(), [](const row& r) { return r.wrong.value_or(0) > 0; }) ? 1
                                                                                                       : 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}: rank {}: {}\n", chorale::detail::printable_text(argv[0]), rank,
               chorale::detail::printable_text(e.what()));
    return 1;
  }
}

}  // namespace chorale::bench
