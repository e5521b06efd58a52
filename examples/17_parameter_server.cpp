// SPDX-License-Identifier: Apache-2.0
// A parameter server without a serving process: the parameters are in windows of all ranks, and workers read
// and update them by one-sided operations, each at its own pace.
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include <chorale/chorale.hpp>

namespace {

using values = std::vector<double>;

/// A pseudo-random number in [-1, 1), the same on every rank.
double scrambled(std::uint64_t x) {
  x = ((x + 1) ^ ((x + 1) >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<double>((x ^ (x >> 31U)) >> 11U) / 0x1p52 - 1;
}

/// Parameter `i` of the linear model to be learnt, whose samples have no noise.
double wanted(std::size_t i) {
  return 3 * scrambled(1'000'003 + i);
}

constexpr std::size_t samples = 131;  ///< per round; each rank has a share of them
constexpr double rate = 0.4;
constexpr std::size_t slack = 3;  ///< the number of rounds that a rank may be ahead of another

/// The change of the parameters by samples [first, last) of a round: `rate` times their part of the negative
/// gradient of half the mean squared error.
values descent(const values& parameters, std::size_t round, std::size_t first, std::size_t last) {
  values change(parameters.size());
  for (std::size_t sample = first; sample < last; ++sample) {
    values x;
    double error = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      x.push_back(scrambled((round * samples + sample) * parameters.size() + i));
      error += x[i] * (parameters[i] - wanted(i));
    }
    for (std::size_t i = 0; i < x.size(); ++i) change[i] -= rate / samples * error * x[i];
  }
  return change;
}

/// The distance of the parameters from the model; NaN if one of them is NaN.
double distance(const values& parameters) {
  double sum = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) sum += std::pow(parameters[i] - wanted(i), 2);
  return std::sqrt(sum);
}

struct outcome {
  values parameters;
  std::uint64_t samples = 0;  ///< used by all ranks
};

/// Learns n parameters in `rounds` rounds; the result is the same on all ranks. `worked` receives the number
/// of multiplications, which runs in virtual time need, since computing takes no virtual time by itself
/// (scaling/).
outcome learn(chorale::communicator<>& comm, std::size_t n, std::size_t rounds,
              const std::function<void(double)>& worked) {
  const auto part = [&](std::size_t all, int rank) {
    return static_cast<std::size_t>(rank) * all / static_cast<std::size_t>(comm.size());
  };
  const std::size_t first = part(samples, comm.rank()), last = part(samples, comm.rank() + 1);
  // Rank r has parameters [part(n, r), part(n, r + 1)), initially zero; rank 0 also has the number of
  // samples.
  auto server = comm.make_window<double>(part(n, comm.rank() + 1) - part(n, comm.rank()));
  auto used = comm.make_window<std::uint64_t>(comm.rank() == 0 ? 1 : 0);

  const values zeros(n);
  values mine(n);
  std::deque<chorale::request> ended;  // rounds that some rank may not have ended yet
  for (std::size_t round = 0; round < rounds; ++round) {
    // A plain get could see a number that another rank's accumulate has half written; adding zero reads it
    // atomically. Each rank begins with its own part, so that they do not all access the same one at once.
    for (int i = 0; i < comm.size(); ++i) {
      const int rank = (comm.rank() + i) % comm.size();
      const std::size_t count = server.size(rank);
      server.get_accumulate(rank, 0, std::span{zeros}.first(count),
                            std::span{mine}.subspan(part(n, rank), count), chorale::sum);
    }
    // Others meanwhile change what has just been read: with a small rate the method converges all the same.
    const values change = descent(mine, round, first, last);
    worked(static_cast<double>(2 * n * (last - first)));
    for (int i = 0; i < comm.size(); ++i) {
      const int rank = (comm.rank() + i) % comm.size();
      server.accumulate(rank, 0, std::span{change}.subspan(part(n, rank), server.size(rank)), chorale::sum);
    }
    used.accumulate(0, 0, last - first, chorale::sum);
    // Ranks need not wait for each other in each round. But a rank that computes with outdated parameters for
    // long, because it had no core, undoes what the others have learnt.
    ended.push_back(comm.ibarrier());
    if (ended.size() > slack) {
      ended.front().wait();
      ended.pop_front();
    }
  }
  chorale::wait_all(ended);
  std::vector<std::size_t> counts;
  for (int rank = 0; rank < comm.size(); ++rank) counts.push_back(server.size(rank));
  comm.allgatherv(server.local(), mine, counts);
  return {mine, used.get(0, 0)};
}

}  // namespace

int main() try {
  constexpr std::size_t n = 23;
  constexpr std::size_t rounds = 150;  // enough for n parameters
  chorale::communicator<> comm;
  const outcome found = learn(comm, n, rounds, [](double) {});

  // The same on one rank, one round after another. The ranks' result depends on the order of updates, but
  // both converge to the same parameters; and each sample has been used once.
  values serial(n);
  const double at_first = distance(serial);
  for (std::size_t round = 0; round < rounds; ++round) {
    const values change = descent(serial, round, 0, samples);
    for (std::size_t i = 0; i < n; ++i) serial[i] += change[i];
  }
  const double here = distance(found.parameters), there = distance(serial);
  values least = found.parameters, most = found.parameters;
  comm.allreduce(chorale::in_place, least, chorale::min);
  comm.allreduce(chorale::in_place, most, chorale::max);
  const bool mine = found.samples == rounds * samples && here <= 1e-6 * at_first &&
                    there <= 1e-6 * at_first && least == most;  // all ranks have the same result
  const bool right = comm.allreduce(mine ? 1 : 0, chorale::min) == 1;
  if (comm.rank() == 0)
    fmt::print(
        "{} parameters, {} samples on {} ranks: distance {:.1e}, serial {:.1e}, at first {:.1f} ({})\n", n,
        found.samples, comm.size(), here, there, at_first, right ? "right" : "WRONG");
  return right ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "17_parameter_server: {}\n", e.what());
  return 1;
}
